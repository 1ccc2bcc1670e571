import { SESSION_ID } from '../contract.ts';
import { type Forked, forkAt } from '../session/fork.ts';
import { LogError } from '../session/log-error.ts';
import type { SessionLog } from '../session/session-log.ts';

export type { Forked } from '../session/fork.ts';

export interface ForkOptions {
  sessionId: string;
  /** The id of the new session. */
  as: string;
  /** A turn that ended; default the last one. */
  atTurn?: number;
}

/**
 * Makes a session that begins with another's log, all of it or nothing; the other is left as it is. No server is asked:
 * the new session goes on with its next prompt.
 * @throws LogError `invalid-session-id`, `unknown-session`, `session-exists`, `unknown-turn`, `turn-open`, `no-closed-turn`
 */
export async function forkSession(log: SessionLog, { sessionId, as, atTurn }: ForkOptions): Promise<Forked> {
  if (!SESSION_ID.test(as)) {
    throw new LogError(
      'invalid-session-id',
      `the session id ${JSON.stringify(as)} is not allowed: 1 to 128 of A-Z a-z 0-9 . _ -`,
    );
  }
  return log.write('fork', (tx) =>
    forkAt(tx, sessionId, { as, ...(atTurn === undefined ? {} : { atTurn }) }),
  );
}
