import type { Client } from '@temporalio/client';
import { ACTIVITY, WORKFLOW_ID_PREFIX } from '../contract.ts';

const WHAT: Record<string, string> = { [ACTIVITY.callModel]: 'the model', [ACTIVITY.runTool]: 'a tool' };

/**
 * What the session's open turn is held up by, as Temporal knows it, in one line: a model that fails and is tried again.
 * @returns undefined where nothing failed, or nothing runs
 */
export async function turnTrouble(client: Client, sessionId: string): Promise<string | undefined> {
  const { raw, status } = await client.workflow.getHandle(WORKFLOW_ID_PREFIX + sessionId).describe();
  if (status.name !== 'RUNNING') {
    return `no run drives this turn any more (${status.name.toLowerCase()}); the next prompt of the session closes it`;
  }
  for (const { activityType, attempt, lastFailure } of raw.pendingActivities ?? []) {
    if (!lastFailure?.message) continue;
    const what = WHAT[activityType?.name ?? ''] ?? activityType?.name;
    return `${what} failed, trying again (attempt ${attempt ?? '?'}): ${lastFailure.message}`;
  }
  return undefined;
}
