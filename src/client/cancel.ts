import type { Client } from '@temporalio/client';
import { WORKFLOW_ID_PREFIX } from '../contract.ts';

/** Cancels the session's open turn. Prompts that were accepted and not entered open the next one. */
export async function cancelTurn(client: Client, sessionId: string): Promise<void> {
  await client.workflow.getHandle(WORKFLOW_ID_PREFIX + sessionId).cancel();
}
