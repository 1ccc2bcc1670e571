import type { LogEvent } from '../contract.ts';
import { isObject, isOrdinal } from './envelope.ts';
import { type Report, shown } from './problem.ts';

const TURN = new Set(['turn/start', 'turn/end']);
const STEP = new Set(['step/start', 'step/end', 'assistant/message', 'tool/call', 'tool/result']);

/**
 * Checks that an event's data has the parts that the other rules look at (contract §5), for the types that they look at.
 * @returns whether it has
 */
export function checkData({ type, data }: LogEvent, report: Report): boolean {
  const expected = expectation(type, data);
  if (expected === undefined) return true;
  report('data', `${type} with ${expected}`, shown(data));
  return false;
}

function expectation(type: string, data: unknown): string | undefined {
  if (TURN.has(type)) return isObject(data) && isOrdinal(data.turn) ? undefined : 'a turn from 1';
  if (STEP.has(type)) {
    if (!isObject(data) || !isOrdinal(data.turn) || !isOrdinal(data.step)) return 'a turn and a step from 1';
    if (type === 'tool/call') return typeof data.callId === 'string' ? undefined : 'a callId';
    if (type === 'assistant/message')
      return isObject(data.message) && Array.isArray(data.message.content)
        ? undefined
        : 'a message with content';
    if (type === 'tool/result')
      return answeredCall(data) === undefined ? 'a message that answers a call' : undefined;
    return undefined;
  }
  if (type === 'user/message') {
    const whole =
      isObject(data) && data.role === 'user' && Array.isArray(data.content) && isObject(data.source);
    return whole ? undefined : 'role "user", content and a source';
  }
  if (type === 'prompt/consumed')
    return isObject(data) && typeof data.promptId === 'string' ? undefined : 'a promptId';
  return undefined;
}

/** The id of the call that a tool result answers. */
export function answeredCall(data: unknown): string | undefined {
  const message = isObject(data) ? data.message : undefined;
  if (!isObject(message)) return undefined;
  const block: unknown = Array.isArray(message.content) ? message.content[0] : undefined;
  const id = isObject(block)
    ? block.toolCallId
    : isObject(message.source)
      ? message.source.callId
      : undefined;
  return typeof id === 'string' ? id : undefined;
}
