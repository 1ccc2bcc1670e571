/** The workflow with one command more: its replay must fail, else the replay test shows nothing. */
import { sleep } from '@temporalio/workflow';
import type { AgentTurnArgument } from '../../src/contract.ts';
import { agentTurn as released } from '../../src/workflow/index.ts';

export async function agentTurn(argument: AgentTurnArgument) {
  await sleep(1);
  return released(argument);
}
