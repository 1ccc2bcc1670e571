import { setTimeout as sleep } from 'node:timers/promises';
import { LogError } from '../session/log-error.ts';
import type { LogTransaction, SessionLog } from '../session/session-log.ts';

const RETRY_MS = 200;

/**
 * Writes what an outside call brought. A locked database is waited for: throwing the outcome away would run a tool
 * again, or pay a model twice. Call it inside `withHeartbeat`.
 * @param signal - of the activity; once it aborts nothing more is tried
 */
export async function persist<T>(
  log: SessionLog,
  activity: string,
  decide: (tx: LogTransaction) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  for (;;) {
    try {
      return await log.write(activity, decide);
    } catch (error) {
      if (!(error instanceof LogError) || error.code !== 'database-busy' || signal.aborted) throw error;
      await sleep(RETRY_MS);
    }
  }
}
