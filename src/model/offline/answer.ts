import { type ReadReading, readReadingText } from './reading-text.ts';
import { timeAnswers, timeNow } from './time-answer.ts';
import { explicitCall, spokenCalls, type ToolRequest } from './tool-request.ts';
import { type ChatMessage, type ChatRequest, type Completion, textOf } from './wire.ts';

/** Every text of the offline model starts with it, so that nobody takes it for a real one. */
export const OFFLINE_LABEL = '[offline model]';

const CAN_ANSWER =
  'I am no language model: I can say the time, the day, tomorrow and yesterday, the time zone and how long ago the last message was, convert units ("convert 10 km to miles"), fetch pages ("fetch https://…") and call any other tool ("call NAME {…}").';

/** Patterns look at no more than this many characters at each end of a prompt. */
const EXCERPT = 1000;
/** Characters of a tool's result that an answer repeats. */
const QUOTE = 500;

/**
 * The offline model itself: the same request gives the same completion, whatever the clock, host or locale.
 * It answers the prompts since its last answer of the latest reading's turn, calls the tools that they ask for first,
 * and knows the time from the latest reading alone.
 */
export function answer(request: ChatRequest): Completion {
  const { messages } = request;
  const reading = latestReading(messages);
  const open = openTurn(messages, reading);
  const { text, calls } = say(open, reading, request);
  const cut = limit(text, request.max_completion_tokens ?? request.max_tokens ?? undefined);
  const ids = `${messages.length}`;
  const completionTokens =
    tokens(cut.text) + calls.reduce((sum, call) => sum + tokens(call.arguments) + 4, 0);
  const promptTokens = messages.reduce((sum, message) => sum + tokens(messageText(message)) + 4, 0);
  return {
    id: `chatcmpl-offline-${ids}`,
    model: request.model,
    created: reading ? Math.floor(reading.instant.epochMilliseconds / 1000) : 0,
    text: cut.text,
    // The place in the conversation makes the id: unique in it, and the same for the same request.
    calls: calls.map((call, index) => ({ id: `call_${ids}_${index}`, ...call })),
    finish: cut.whole ? (calls.length > 0 ? 'tool_calls' : 'stop') : 'length',
    usage: {
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      total_tokens: promptTokens + completionTokens,
    },
  };
}

/** What an answer is made of: the prompts not yet answered, and the tool calls made for them with their results. */
interface OpenTurn {
  prompts: string[];
  made: { request: ToolRequest; result: string }[];
}

function say(
  { prompts, made }: OpenTurn,
  reading: ReadReading | null,
  request: ChatRequest,
): { text: string; calls: ToolRequest[] } {
  const tools = new Set(
    request.tool_choice === 'none' ? [] : (request.tools ?? []).map((tool) => tool.function?.name),
  );
  const wanted = prompts.flatMap((prompt) => {
    const call = explicitCall(prompt);
    return call ? [call] : spokenCalls(excerpt(prompt));
  });
  // Counting calls, not comparing them, ends every turn, whatever the tools answered.
  const calls = wanted.filter(({ name }) => tools.has(name)).slice(made.length);
  if (calls.length > 0) return { text: '', calls };

  const sentences = made.map(({ request, result }) => toolSentence(request, result));
  for (const { name } of wanted) {
    if (!tools.has(name) && !made.some((call) => call.request.name === name)) {
      sentences.push(`I have no tool ${name} here.`);
    }
  }
  for (const prompt of prompts) sentences.push(...timeAnswers(excerpt(prompt), reading));
  if (sentences.length === 0) {
    sentences.push(CAN_ANSWER);
    if (reading) sentences.push(timeNow(excerpt(prompts.at(-1) ?? ''), reading));
  }
  return { text: `${OFFLINE_LABEL} ${sentences.join(' ')}`, calls: [] };
}

function latestReading(messages: readonly ChatMessage[]): ReadReading | null {
  for (const message of messages.toReversed()) {
    const reading = readingOf(message);
    if (reading) return reading;
  }
  return null;
}

function readingOf(message: ChatMessage): ReadReading | null {
  return message.role === 'user' ? readReadingText(textOf(message)) : null;
}

/**
 * Starts after the last finished answer, and after the last reading of an earlier turn: a prompt of a turn that was
 * cancelled is not answered in the next one.
 */
function openTurn(messages: readonly ChatMessage[], latest: ReadReading | null): OpenTurn {
  const start =
    1 +
    messages.findLastIndex((message) => {
      if (message.role === 'assistant') return !message.tool_calls?.length;
      const reading = readingOf(message);
      return reading !== null && reading.turn !== latest?.turn;
    });
  const span = messages.slice(start);
  const results = new Map(
    span.flatMap((message) =>
      message.role === 'tool' ? [[message.tool_call_id, textOf(message)] as const] : [],
    ),
  );
  return {
    prompts: span.filter((message) => message.role === 'user' && !readingOf(message)).map(textOf),
    made: span.flatMap((message) =>
      message.role === 'assistant'
        ? (message.tool_calls ?? []).map((call) => ({
            request: call.function,
            result: results.get(call.id) ?? '',
          }))
        : [],
    ),
  };
}

function toolSentence({ name }: ToolRequest, result: string): string {
  const value = parsed(result);
  if (isRecord(value)) {
    if (isRecord(value.error)) return `The tool ${name} answered an error: ${value.error.message ?? result}`;
    if (name === 'convert_units' && 'result' in value) {
      return `${value.value} ${value.from} = ${value.result} ${value.to}.`;
    }
    if (name === 'http_get' && typeof value.text === 'string') {
      return `${value.url} answered ${value.status}: ${quote(value.text)}`;
    }
  }
  return result ? `The tool ${name} answered: ${quote(result)}` : `The tool ${name} gave no answer.`;
}

function quote(text: string): string {
  const line = text.trim();
  return line.length > QUOTE ? `${line.slice(0, QUOTE).toWellFormed()}…` : line;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function excerpt(text: string): string {
  return text.length <= 2 * EXCERPT
    ? text
    : `${text.slice(0, EXCERPT)}\n${text.slice(-EXCERPT)}`.toWellFormed();
}

function messageText(message: ChatMessage): string {
  const calls = message.role === 'assistant' ? (message.tool_calls ?? []) : [];
  return textOf(message) + calls.map((call) => call.function.arguments).join('');
}

/** A steady stand-in for a tokenizer: one token for each four UTF-8 bytes begun. */
function tokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 4);
}

function limit(text: string, maxTokens: number | undefined): { text: string; whole: boolean } {
  if (maxTokens === undefined || tokens(text) <= maxTokens) return { text, whole: true };
  const kept = Buffer.from(text).subarray(0, maxTokens * 4);
  // A streaming decoder drops a character that the cut went through.
  return { text: new TextDecoder().decode(kept, { stream: true }), whole: false };
}
