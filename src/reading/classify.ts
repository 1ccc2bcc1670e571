import { COMPACT_PLUGIN, type LogEvent, READING_PLUGIN, type UserMessage } from '../contract.ts';

/** What the predicates look at. Data may come from any log: nothing in it is taken for granted. */
type Classified = Pick<LogEvent, 'type' | 'data' | 'surfaceOp'>;

/** The three event types that stand on the surface (contract §5). */
export const SURFACE_TYPES: ReadonlySet<string> = new Set([
  'user/message',
  'assistant/message',
  'tool/result',
]);

/** Whether a user message is a reading: any message of plugin `time-context`, whatever its form (contract §2, §3). */
export function isReadingMessage(message: unknown): boolean {
  const source = sourceOf(message);
  return source?.kind === 'plugin' && source.plugin === READING_PLUGIN;
}

/** Whether an event is a reading. A shadowed one still is. */
export function isReading(event: Classified): boolean {
  return event.type === 'user/message' && isReadingMessage(event.data);
}

/**
 * Whether elapsed may be counted from an event: a user message, assistant message or tool result
 * that is no reading, no compaction summary and no pruned copy (contract §3).
 */
export function isBaselineMessage(event: Classified): boolean {
  if (!SURFACE_TYPES.has(event.type)) return false;
  // A replacement stands in for what was said before; nothing was said when it was written.
  if (typeof event.surfaceOp === 'object' && event.surfaceOp !== null) return false;
  if (event.type !== 'user/message') return true;
  const source = sourceOf(event.data);
  return !(
    source?.kind === 'plugin' &&
    (source.plugin === READING_PLUGIN || source.plugin === COMPACT_PLUGIN)
  );
}

/** The zone that a message binds to its turn: it counts beside a string `rpcId` of a user's own message only. */
export function promptZone(message: Pick<UserMessage, 'source'>): string | undefined {
  const source = sourceOf(message);
  if (source?.kind !== 'user' || typeof source.rpcId !== 'string') return undefined;
  return typeof source.clientTimeZone === 'string' && source.clientTimeZone !== ''
    ? source.clientTimeZone
    : undefined;
}

function sourceOf(message: unknown): Record<string, unknown> | undefined {
  if (typeof message !== 'object' || message === null) return undefined;
  const { source } = message as { source?: unknown };
  return typeof source === 'object' && source !== null ? (source as Record<string, unknown>) : undefined;
}
