import type { AnswerEnd } from './ask.ts';

/** Why an answer is not what was asked for, with a stable code; undefined where the turn completed. */
export function turnFailure(end: AnswerEnd): { code: string; message: string } | undefined {
  if (end.kind === 'consumed') {
    return { code: `prompt-${end.outcome}`, message: `the prompt was ${end.outcome} by ${end.by}` };
  }
  const { reason } = end;
  switch (reason.kind) {
    case 'completed':
      return undefined;
    case 'aborted':
      return { code: 'turn-aborted', message: 'the turn was cancelled' };
    case 'blocked':
      return { code: 'turn-blocked', message: 'the turn was blocked by a policy' };
    case 'error':
      return { code: reason.code, message: `the turn failed: ${reason.message}` };
    case 'max-tokens':
      return { code: 'max-tokens', message: "the answer was cut off at the model's output limit" };
    default:
      return { code: 'turn-interrupted', message: 'the turn was interrupted; ask again' };
  }
}
