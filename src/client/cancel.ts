import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { WORKFLOW_ID_PREFIX } from '../contract.ts';

/** Cancels the session's open turn. Prompts that were accepted and not entered open the next one. */
export async function cancelTurn(client: Client, sessionId: string): Promise<void> {
  await client.workflow.getHandle(WORKFLOW_ID_PREFIX + sessionId).cancel();
}

/** Whether a turn of the session runs: the server takes the cancel of one that ended without a word. */
export async function turnRuns(client: Client, sessionId: string): Promise<boolean> {
  try {
    const { status } = await client.workflow.getHandle(WORKFLOW_ID_PREFIX + sessionId).describe();
    return status.name === 'RUNNING';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
