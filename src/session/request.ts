import type {
  AssistantMessage,
  LogEvent,
  RequestHeader,
  ToolResultMessage,
  UserMessage,
} from '../contract.ts';

export type SurfaceMessage = UserMessage | AssistantMessage | ToolResultMessage;

/** The request of a step: the header in force and the messages of the surface at that point. */
export interface ModelRequest {
  header: RequestHeader;
  messages: SurfaceMessage[];
}

/** The message of a surface event; an assistant message without content (it only hosts usage) gives none. */
export function messageOf(event: LogEvent): SurfaceMessage | undefined {
  if (event.type === 'user/message') return event.data as UserMessage;
  const { message } = event.data as { message: AssistantMessage | ToolResultMessage };
  return message?.content?.length > 0 ? message : undefined;
}

/** Equality of two JSON values, key order aside. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every(
      (key) =>
        Object.hasOwn(b, key) &&
        sameJson((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]),
    )
  );
}
