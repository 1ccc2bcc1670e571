import type { EventData, LogEvent, UserMessage } from '../contract.ts';
import { isBaselineMessage, isReading, promptZone } from '../reading/classify.ts';
import type { EventsTable } from './tables.ts';

/** Where a session stands: the fold of its turn and step events, kept in its row. */
export interface SessionState {
  nextSeq: number;
  turn: number;
  turnKey: string | null;
  turnOpen: boolean;
  step: number;
  stepOpen: boolean;
}

export const EMPTY_SESSION: SessionState = {
  nextSeq: 0,
  turn: 0,
  turnKey: null,
  turnOpen: false,
  step: 0,
  stepOpen: false,
};

/** Whether a step is the open one: nothing is written for any other. */
export function isOpenStep(
  state: SessionState | undefined,
  { turnKey, step }: { turnKey: string; step: number },
): boolean {
  if (!state?.turnOpen || !state.stepOpen) return false;
  return state.turnKey === turnKey && state.step === step;
}

export type Projection = Pick<
  EventsTable,
  'turn' | 'step' | 'turn_key' | 'slot' | 'prompt_id' | 'zone' | 'is_baseline' | 'is_reading'
>;

/** The state after an event. Pure; imports and appends use it alike. */
export function advance(state: SessionState, event: LogEvent): SessionState {
  const next = { ...state, nextSeq: state.nextSeq + 1 };
  const data = event.data as { turn?: number; step?: number; turnKey?: string };
  switch (event.type) {
    case 'turn/start':
      return {
        ...next,
        turn: data.turn!,
        turnKey: data.turnKey ?? null,
        turnOpen: true,
        step: 0,
        stepOpen: false,
      };
    case 'turn/end':
      return { ...next, turnOpen: false, stepOpen: false };
    case 'step/start':
      return { ...next, step: data.step!, stepOpen: true };
    case 'step/end':
      return { ...next, stepOpen: false };
    default:
      return next;
  }
}

/**
 * The look-up columns of an event.
 * @param after - the state after the event
 * @param slot - what the event is unique as in its step; only the log's own appends have one
 */
export function project(event: LogEvent, after: SessionState, slot: string | null): Projection {
  const inTurn = after.turnOpen || event.type === 'turn/end';
  return {
    turn: inTurn ? after.turn : null,
    step: event.type === 'turn/start' || event.type === 'turn/end' ? 0 : inTurn ? after.step : null,
    turn_key: inTurn ? after.turnKey : null,
    slot: inTurn && after.turnKey !== null ? slot : null,
    prompt_id: promptIdOf(event),
    zone: zoneOf(event),
    is_baseline: isBaselineMessage(event) ? 1 : 0,
    is_reading: isReading(event) ? 1 : 0,
  };
}

/** The zone that a prompt brought. A replacement may be the copy of another turn's prompt: it brings none. */
function zoneOf(event: LogEvent): string | null {
  if (event.type !== 'user/message' || event.surfaceOp !== 'append') return null;
  return promptZone(event.data as UserMessage) ?? null;
}

/** The one place of a prompt in the log: its message, or the event that says it was consumed. */
export function promptIdOf(event: LogEvent): string | null {
  if (event.type === 'prompt/consumed') return (event.data as EventData['prompt/consumed']).promptId;
  if (event.type !== 'user/message') return null;
  const message = event.data as UserMessage;
  const { rpcId } = message.source as { rpcId?: unknown };
  return message.prompt !== undefined && typeof rpcId === 'string' ? rpcId : null;
}

/** What an event is unique as, derived from it alone; calls and results are told apart by their index instead. */
export function slotOf(event: LogEvent): string | null {
  switch (event.type) {
    case 'turn/start':
    case 'turn/end':
    case 'step/start':
    case 'step/end':
      return event.type;
    case 'assistant/message':
      return 'message';
    case 'user/message':
      return isReading(event) ? 'reading' : null;
    default:
      return null;
  }
}
