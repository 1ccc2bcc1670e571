import { randomUUID } from 'node:crypto';
import type {
  AssistantMessage,
  EventData,
  ToolCallBlock,
  ToolResultMessage,
  TurnEndReason,
} from '../contract.ts';
import { toolCalls } from './next-step.ts';
import type { SessionState } from './project.ts';
import type { AppendedEvent, LogTransaction } from './session-log.ts';

/** A tool result message. */
export function toolResult(
  call: Pick<ToolCallBlock, 'id'>,
  text: string,
  isError: boolean,
): ToolResultMessage {
  return {
    id: randomUUID(),
    role: 'user',
    content: [
      {
        type: 'tool-result',
        toolCallId: call.id,
        content: [{ type: 'text', text }],
        ...(isError ? { isError } : {}),
      },
    ],
    source: { kind: 'tool', callId: call.id },
  };
}

/** A result that says that a call has none, with its reason as the error's code. */
export function errorResult(
  turn: number,
  step: number,
  call: ToolCallBlock,
  code: string,
  text: string,
): EventData['tool/result'] {
  return { turn, step, message: toolResult(call, text, true), error: { name: 'ToolError', code } };
}

const UNANSWERED: Partial<Record<TurnEndReason['kind'], [code: string, text: string]>> = {
  aborted: ['cancelled', 'The call was cancelled before it answered.'],
  interrupted: ['interrupted', 'The process that ran this call was lost; its outcome is unknown.'],
};

/** The events that close an open turn: an error result for each unanswered call, `step/end`, `turn/end`. */
export async function closingEvents(
  tx: LogTransaction,
  sessionId: string,
  state: SessionState,
  reason: TurnEndReason,
): Promise<AppendedEvent[]> {
  const events: AppendedEvent[] = [];
  const { turn, step } = state;
  if (state.stepOpen) {
    const { message, answered } = await tx.messageOfOpenStep(sessionId, state);
    const calls = message ? toolCalls((message.data as { message: AssistantMessage }).message) : [];
    const done = state.turnKey === null ? undefined : await tx.answeredCalls(sessionId, state.turnKey, step);
    const [code, text] = UNANSWERED[reason.kind] ?? ['not-run', 'The turn ended before this call ran.'];
    for (const [index, call] of calls.entries()) {
      if (done ? done.has(index) : answered.has(call.id)) continue;
      const data = errorResult(turn, step, call, code, text);
      events.push({ event: { type: 'tool/result', data, surfaceOp: 'append' }, slot: `result:${index}` });
    }
    events.push({ event: { type: 'step/end', data: { turn, step } } });
  }
  events.push({ event: { type: 'turn/end', data: { turn, reason } } });
  return events;
}
