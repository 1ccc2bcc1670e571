import type { CloseTurnAnswer, CloseTurnArgument, TurnEndReason } from '../contract.ts';
import { closingEvents } from '../session/close.ts';
import { type ActivityContext, asActivityFailure, attemptDeadline } from './context.ts';

/**
 * `timeContext.closeTurn`: writes what an open turn of this key lacks and ends it, or returns the end that stands.
 * A key that opened no turn is marked closed, so that a late pre-step opens none.
 */
export function closeTurn({ log }: ActivityContext) {
  return ({ sessionId, turnKey, reason }: CloseTurnArgument): Promise<CloseTurnAnswer> =>
    asActivityFailure(() =>
      log.write(
        'closeTurn',
        async (tx) => {
          const turn = await tx.turnOfKey(sessionId, turnKey);
          if (!turn) {
            await tx.closeKey(sessionId, turnKey, reason.kind);
            return { status: 'closed' };
          }
          if (turn.end) return endOf(turn.turn, (turn.end.data as { reason: TurnEndReason }).reason);
          const state = (await tx.session(sessionId))!;
          await tx.append(sessionId, state, await closingEvents(tx, sessionId, state, reason));
          return endOf(turn.turn, reason);
        },
        attemptDeadline(),
      ),
    );
}

function endOf(turn: number, reason: TurnEndReason): CloseTurnAnswer {
  return {
    status: 'ended',
    turn,
    reason: reason.kind,
    ...(reason.kind === 'error' ? { code: reason.code } : {}),
  };
}
