import { z } from 'zod';

const contentPart = z.looseObject({ type: z.string(), text: z.string().optional() });
const content = z.union([z.string(), z.array(contentPart)]).nullish();
const toolCall = z.looseObject({
  id: z.string(),
  function: z.looseObject({ name: z.string(), arguments: z.string() }),
});

const message = z.discriminatedUnion('role', [
  z.looseObject({ role: z.literal('system'), content }),
  z.looseObject({ role: z.literal('developer'), content }),
  z.looseObject({ role: z.literal('user'), content }),
  z.looseObject({ role: z.literal('assistant'), content, tool_calls: z.array(toolCall).nullish() }),
  z.looseObject({ role: z.literal('tool'), content, tool_call_id: z.string() }),
]);

/** The part of a chat-completions request that the offline model understands; other fields are let through. */
export const chatRequest = z.looseObject({
  model: z.string(),
  messages: z.array(message).min(1),
  tools: z
    .array(z.looseObject({ type: z.string(), function: z.looseObject({ name: z.string() }).optional() }))
    .nullish(),
  tool_choice: z.unknown().optional(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  max_tokens: z.int().positive().nullish(),
  max_completion_tokens: z.int().positive().nullish(),
});

export type ChatRequest = z.infer<typeof chatRequest>;
export type ChatMessage = ChatRequest['messages'][number];

/** A tool call as the model makes it: `arguments` is JSON text. */
export interface WireToolCall {
  id: string;
  name: string;
  arguments: string;
}

/** What the model says to one request, before it is put on the wire. */
export interface Completion {
  id: string;
  model: string;
  /** Epoch seconds. */
  created: number;
  text: string;
  calls: WireToolCall[];
  finish: 'stop' | 'tool_calls' | 'length';
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number };
}

/** The text of a message, its parts joined; parts that are not text count as nothing. */
export function textOf({ content }: ChatMessage): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map((part) => part.text ?? '').join('\n');
}

/** The body of a non-streaming answer. */
export function completionBody({ id, model, created, text, calls, finish, usage }: Completion): object {
  const message = {
    role: 'assistant',
    content: calls.length > 0 ? text || null : text,
    ...(calls.length > 0 ? { tool_calls: calls.map(wireCall) } : {}),
  };
  return {
    id,
    object: 'chat.completion',
    created,
    model,
    choices: [{ index: 0, message, finish_reason: finish, logprobs: null }],
    usage,
  };
}

/** The chunks of a streaming answer in order, a few words each, without the closing `[DONE]`. */
export function* completionChunks(completion: Completion, includeUsage: boolean): Generator<object> {
  const { id, model, created, text, calls, finish, usage } = completion;
  const frame = { id, object: 'chat.completion.chunk', created, model };
  // With usage asked for, every chunk but the last carries a null, as OpenAI's own do.
  const more = includeUsage ? { usage: null } : {};
  const chunk = (delta: object, reason: string | null = null) => ({
    ...frame,
    choices: [{ index: 0, delta, finish_reason: reason }],
    ...more,
  });
  yield chunk({ role: 'assistant', content: '' });
  for (const words of piecesOf(text)) yield chunk({ content: words });
  for (const [index, call] of calls.entries()) {
    const { function: fn, ...head } = wireCall(call);
    yield chunk({ tool_calls: [{ index, ...head, function: { name: fn.name, arguments: '' } }] });
    for (const piece of piecesOf(fn.arguments)) {
      yield chunk({ tool_calls: [{ index, function: { arguments: piece } }] });
    }
  }
  yield chunk({}, finish);
  if (includeUsage) yield { ...frame, choices: [], usage };
}

function wireCall({ id, name, arguments: args }: WireToolCall) {
  return { id, type: 'function', function: { name, arguments: args } };
}

/** Cuts a text after every third word; the pieces joined are the text. */
function piecesOf(text: string): string[] {
  return text.match(/(?:\s*\S+){1,3}\s*|\s+/gu) ?? [];
}

/** The body of an error answer, in OpenAI's shape. */
export function errorBody(message: string, code: string | null = null): object {
  return { error: { message, type: 'invalid_request_error', param: null, code } };
}
