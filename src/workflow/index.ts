/** What a workflow bundle imports: `export * from 'temporal-time-context/workflow'`. Safe in the sandbox. */
export { agentTurn } from './agent-turn.ts';
export { promptUpdate } from './prompt-update.ts';
