/** A session's past as another session's beginning (contract §5). */
import { LogError } from './log-error.ts';
import type { LogTransaction } from './session-log.ts';

export interface Forked {
  sessionId: string;
  parentSession: string;
  /** The turn after which the copy goes its own way. */
  turn: number;
  /** Events that were copied. */
  events: number;
}

/**
 * Copies a session through the end of a closed turn, and marks the end of the copy with `session/end-seed`. Prompts that
 * wait and keys that were closed stay with the parent.
 * @throws LogError `unknown-session`, `unknown-turn`, `turn-open`, `no-closed-turn`, `session-exists`
 */
export async function forkAt(
  tx: LogTransaction,
  parentSession: string,
  { as, atTurn }: { as: string; atTurn?: number },
): Promise<Forked> {
  const parent = await tx.session(parentSession);
  if (!parent) throw new LogError('unknown-session', `there is no session ${JSON.stringify(parentSession)}`);
  const closed = parent.turnOpen ? parent.turn - 1 : parent.turn;
  const turn = atTurn ?? closed;
  if (turn < 1) {
    const message = `session ${JSON.stringify(parentSession)} has no turn yet that ended; fork it when one has`;
    throw new LogError('no-closed-turn', message);
  }
  if (parent.turnOpen && turn === parent.turn) {
    const earlier = closed > 0 ? `, or fork at turn ${closed}` : '';
    throw new LogError('turn-open', `turn ${turn} is open; fork when it has ended${earlier}`);
  }
  const end = await tx.endOfTurn(parentSession, turn);
  if (!end) {
    const message = `the session has no turn ${turn} that ended; its last one is turn ${closed}`;
    throw new LogError('unknown-turn', message);
  }
  const events = end.seq + 1;
  const { createdAt: _parents, ...header } = parent.header;
  await tx.create(as, { ...header, parentSession, seedLength: events });
  await tx.copyPrefix(parentSession, as, events);
  const state = {
    nextSeq: events,
    turn,
    turnKey: end.turnKey,
    turnOpen: false,
    step: end.lastStep,
    stepOpen: false,
  };
  await tx.append(as, state, [{ event: { type: 'session/end-seed', data: {} } }]);
  return { sessionId: as, parentSession, turn, events };
}
