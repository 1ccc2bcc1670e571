import type { LogEvent } from '../contract.ts';
import { isCount, isObject, isTime } from './envelope.ts';

/** Row types of DeepSeek Harness that hold a run of `assistant/chunk` events, to the type of the run's deltas. */
const DELTAS: Record<string, 'text-delta' | 'reasoning-delta' | 'tool-call-delta'> = {
  'text-chunks': 'text-delta',
  'reasoning-chunks': 'reasoning-delta',
  'tool-call-chunks': 'tool-call-delta',
};

/** Whether a line of a file holds several events: DeepSeek Harness stores runs of streamed chunks so. */
export function isPackedChunks(line: Record<string, unknown>): boolean {
  return typeof line.type === 'string' && Object.hasOwn(DELTAS, line.type) && line.seq === undefined;
}

/**
 * The events of a packed row, as they were: member `k` has seq `seq0 + k`, and `time0` plus the first `k` gaps of `dt`.
 * @returns undefined where the row is malformed
 */
export function unpackChunks({ type, seq0, time0, data }: Record<string, unknown>): LogEvent[] | undefined {
  if (!isCount(seq0) || !isTime(time0) || !isObject(data)) return undefined;
  const delta = DELTAS[type as string]!;
  const { turn, step, index, dt, id, name } = data;
  const members = delta === 'tool-call-delta' ? data.args : data.texts;
  if (
    !Array.isArray(members) ||
    !Array.isArray(dt) ||
    members.length === 0 ||
    dt.length !== members.length - 1
  )
    return undefined;
  const events: LogEvent[] = [];
  let time = time0;
  for (const [k, member] of members.entries()) {
    if (k > 0) time += dt[k - 1] as number;
    if (typeof member !== 'string' || !isTime(time)) return undefined;
    const chunk =
      delta === 'tool-call-delta'
        ? { type: delta, index, id, ...(name === undefined ? {} : { name }), argumentsDelta: member }
        : { type: delta, index, text: member };
    events.push({ type: 'assistant/chunk', seq: seq0 + k, time, data: { turn, step, chunk } });
  }
  return events;
}
