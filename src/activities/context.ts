import { ApplicationFailure, activityInfo, Context } from '@temporalio/activity';
import { LIMIT, WORKFLOW_ID_PREFIX } from '../contract.ts';
import type { ModelSettings } from '../model/settings.ts';
import type { ReadingSettings } from '../reading/settings.ts';
import { LogError } from '../session/log-error.ts';
import type { SessionLog } from '../session/session-log.ts';
import type { AgentTool } from '../tools/tool.ts';

/** What the activities of one worker share. */
export interface ActivityContext {
  log: SessionLog;
  reading: ReadingSettings;
  /** Absent in a worker that only makes readings. */
  model?: ModelSettings;
  tools: readonly AgentTool[];
  /** Steps of a turn at most. */
  maxSteps: number;
  /** Whether a run is the session's current one, by the server's word. */
  isCurrentRun?: (sessionId: string, runId: string) => Promise<boolean>;
}

/** When the attempt of the running local activity is over, on `performance.now()`'s scale. */
export function attemptDeadline(): number {
  return performance.now() + (activityInfo().startToCloseTimeoutMs ?? LIMIT.transactionMs);
}

/** Asks the server which run of the session is current. It is asked only when another key's turn stands open. */
export async function isCurrentRun(sessionId: string, runId: string): Promise<boolean> {
  const current = await Context.current()
    .client.workflow.getHandle(`${WORKFLOW_ID_PREFIX}${sessionId}`)
    .describe();
  return current.runId === runId && current.status.name === 'RUNNING';
}

const NEVER_HEALS = new Set(['foreign-session', 'other-namespace', 'not-json']);

/** An error of the log as Temporal should see it: its code as the type, no retry where none can help. */
export async function asActivityFailure<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof LogError) {
      throw ApplicationFailure.create({
        message: error.message,
        type: error.code,
        nonRetryable: NEVER_HEALS.has(error.code),
        cause: error,
      });
    }
    // A log that cannot be read (an import that lacks what the turn needs) is not better the next time.
    if (error instanceof TypeError) {
      throw ApplicationFailure.create({
        message: `the session's log cannot be read: ${error.message}`,
        type: 'unreadable-log',
        nonRetryable: true,
        cause: error,
      });
    }
    throw error;
  }
}
