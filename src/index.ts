/** The worker and client half. The workflow half is `temporal-time-context/workflow`. */

export { followPrompt } from './client/answer.ts';
export { cancelTurn } from './client/cancel.ts';
export { type Forked, type ForkOptions, forkSession } from './client/fork.ts';
export { type PromptOptions, PromptRefusedError, sendPrompt } from './client/prompt.ts';
export * from './contract.ts';
export type { ModelSettings } from './model/settings.ts';
export { type TimeContextOptions, TimeContextPlugin } from './plugin.ts';
export { type ReadingOptions, SettingsError } from './reading/settings.ts';
export { openDatabase } from './session/database.ts';
export { LogError } from './session/log-error.ts';
export { SessionLog } from './session/session-log.ts';
export { type AgentTool, defineTool, type ToolContext } from './tools/tool.ts';
