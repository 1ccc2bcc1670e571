/**
 * What follows, from what the log says alone. The table of the design, as one pure function.
 *
 * I5  A run ends only on an answer of the log.
 * I6  A step that stands open without a message is entered again, whatever was offered.
 * I7  The caller's count of steps decides nothing.
 */
import type { AssistantMessage, ToolCallBlock, TurnEndReason } from '../contract.ts';
import type { SessionState } from './project.ts';

export interface StepFacts {
  turnKey: string;
  /** Undefined where the session has no log yet. */
  state?: SessionState;
  /** The turn that this key opened, and its end if it ended. */
  own?: { turn: number; end?: TurnEndReason };
  /** The key was closed before it opened a turn. */
  closed?: TurnEndReason['kind'];
  /** The assistant message of this key's open step. */
  message?: AssistantMessage;
  /** Indexes of its calls that have a result. */
  answered?: ReadonlySet<number>;
  /** How many of the offered prompts the log does not know. */
  fresh: number;
  maxSteps: number;
}

export type NextStep =
  | { kind: 'ended'; turn?: number; reason?: TurnEndReason }
  | { kind: 'closed'; reason: TurnEndReason['kind'] }
  /** Another key's turn stands open: it is repaired, or this run is not the current one. */
  | { kind: 'other-turn'; turnKey: string | null }
  | { kind: 'entered'; turn: number; step: number }
  | { kind: 'tools'; turn: number; step: number; calls: number[] }
  | { kind: 'enter'; turn: number; step: number }
  | { kind: 'end'; turn: number; step: number; reason: TurnEndReason };

export function nextStep({
  turnKey,
  state,
  own,
  closed,
  message,
  answered,
  fresh,
  maxSteps,
}: StepFacts): NextStep {
  // Looked at first: a run that was reset to an older turn would leave the newer one open without a run.
  if (state?.turnOpen && state.turnKey !== turnKey) return { kind: 'other-turn', turnKey: state.turnKey };
  if (own?.end) return { kind: 'ended', turn: own.turn, reason: own.end };
  if (closed) return { kind: 'closed', reason: closed };
  if (!state?.turnOpen) {
    return fresh > 0 ? { kind: 'enter', turn: (state?.turn ?? 0) + 1, step: 1 } : { kind: 'ended' };
  }
  const { turn, step } = state;
  if (!message) return { kind: 'entered', turn, step };
  const calls = toolCalls(message);
  const owed = calls.map((_, index) => index).filter((index) => !answered?.has(index));
  if (owed.length > 0) return { kind: 'tools', turn, step, calls: owed };
  // At the limit a whole answer is an end like any other: what is new opens the next turn.
  if (calls.length === 0 && (fresh === 0 || step >= maxSteps))
    return { kind: 'end', turn, step, reason: { kind: 'completed' } };
  if (step >= maxSteps) {
    const text = `the turn reached its limit of ${maxSteps} steps; the worker's option maxSteps sets it`;
    return { kind: 'end', turn, step, reason: { kind: 'error', message: text, code: 'step-limit' } };
  }
  return { kind: 'enter', turn, step: step + 1 };
}

export function toolCalls(message: AssistantMessage): ToolCallBlock[] {
  return message.content.filter((block) => block?.type === 'tool-call');
}
