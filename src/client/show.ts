/** What a person wants to know of an event: the log as `show`, `prompt` and `chat` present it. */
import type {
  AssistantMessage,
  EventData,
  LogEvent,
  ReadingData,
  TextBlock,
  TokenUsage,
  TurnEndReason,
  UserMessage,
} from '../contract.ts';
import { COMPACT_PLUGIN } from '../contract.ts';
import { isReading } from '../reading/classify.ts';

/** One event as it is shown. `other` is a type that has no presentation of its own. */
export type ShownItem = { seq: number; time: number } & (
  | { kind: 'turn'; turn: number }
  | { kind: 'step'; turn: number; step: number }
  | { kind: 'prompt'; text: string; promptId?: string; timeZone?: string; givenTimeZone?: string }
  | { kind: 'message'; from: string; text: string }
  | { kind: 'reading'; text: string; reading?: ReadingData }
  | { kind: 'request'; provider: string; model: string; tools: string[] }
  | {
      kind: 'assistant';
      text: string;
      reasoning?: string;
      calls: { id: string; name: string; arguments: string }[];
      usage?: TokenUsage;
      cut?: true;
    }
  | { kind: 'call'; callId: string; name: string; arguments: string }
  | { kind: 'result'; callId: string; text: string; error?: string }
  | { kind: 'consumed'; promptId: string; by: string; outcome: string }
  | { kind: 'turn-end'; turn: number; reason: TurnEndReason }
  | { kind: 'seed-end' }
  | { kind: 'other'; type: string }
);

/** @returns undefined for what only brackets other events, such as `step/end` */
export function shownItem(event: LogEvent): ShownItem | undefined {
  try {
    return itemOf(event);
  } catch {
    // Imported events are kept as they are, and some have not the parts that ours have.
    return { seq: event.seq, time: event.time, kind: 'other', type: event.type };
  }
}

function itemOf(event: LogEvent): ShownItem | undefined {
  const { seq, time, type } = event;
  const place = { seq, time };
  switch (type) {
    case 'turn/start':
      return { ...place, kind: 'turn', turn: (event.data as EventData['turn/start']).turn };
    case 'step/start': {
      const { turn, step } = event.data as EventData['step/start'];
      return { ...place, kind: 'step', turn, step };
    }
    case 'step/end':
      return undefined;
    case 'user/message':
      return { ...place, ...shownMessage(event as LogEvent<'user/message', UserMessage>) };
    case 'request/header': {
      const { config, tools } = (event.data as EventData['request/header']).header;
      const { provider, model } = config;
      return { ...place, kind: 'request', provider, model, tools: (tools ?? []).map(({ name }) => name) };
    }
    case 'assistant/message':
      return { ...place, ...shownAnswer(event.data as EventData['assistant/message']) };
    case 'tool/call': {
      const { callId, name, arguments: given } = event.data as EventData['tool/call'];
      return { ...place, kind: 'call', callId, name, arguments: given };
    }
    case 'tool/result':
      return { ...place, ...shownResult(event.data as EventData['tool/result']) };
    case 'prompt/consumed': {
      const { promptId, by, outcome } = event.data as EventData['prompt/consumed'];
      return { ...place, kind: 'consumed', promptId, by, outcome };
    }
    case 'turn/end': {
      const { turn, reason } = event.data as EventData['turn/end'];
      return { ...place, kind: 'turn-end', turn, reason };
    }
    case 'session/end-seed':
      return { ...place, kind: 'seed-end' };
    default:
      return { ...place, kind: 'other', type };
  }
}

/** The end of a turn in words. */
export function endText(reason: TurnEndReason): string {
  switch (reason.kind) {
    case 'completed':
      return 'completed';
    case 'aborted':
      return reason.cause === 'user' ? 'cancelled' : `aborted (${reason.cause})`;
    case 'blocked':
      return 'blocked by policy';
    case 'error':
      return `failed (${reason.code}): ${reason.message}`;
    case 'max-tokens':
      return "cut off at the model's output limit";
    case 'interrupted':
      return 'interrupted';
    // Another product's reason.
    default:
      return String((reason as { kind?: unknown }).kind);
  }
}

function shownMessage(event: LogEvent<'user/message', UserMessage>) {
  const { content, source, prompt, reading } = event.data;
  const text = textOf(content);
  if (isReading(event)) return { kind: 'reading', text, ...(reading ? { reading } : {}) } as const;
  if (source.kind !== 'user') {
    const { plugin } = source as { plugin?: string };
    const from = plugin === COMPACT_PLUGIN ? 'summary' : (plugin ?? source.kind);
    return { kind: 'message', from, text } as const;
  }
  const { rpcId, clientTimeZone } = source as { rpcId?: string; clientTimeZone?: string };
  return {
    kind: 'prompt',
    text,
    ...(rpcId === undefined ? {} : { promptId: rpcId }),
    ...(clientTimeZone === undefined ? {} : { timeZone: clientTimeZone }),
    ...(prompt?.givenTimeZone === undefined ? {} : { givenTimeZone: prompt.givenTimeZone }),
  } as const;
}

function shownAnswer({ message, usage, interrupted, finish }: EventData['assistant/message']) {
  const { content } = message as AssistantMessage;
  const reasoning = content.flatMap((block) => (block.type === 'reasoning' ? [block.text] : [])).join('\n');
  return {
    kind: 'assistant',
    text: textOf(content),
    ...(reasoning === '' ? {} : { reasoning }),
    calls: content.flatMap((block) =>
      block.type === 'tool-call' ? [{ id: block.id, name: block.name, arguments: block.arguments }] : [],
    ),
    ...(usage ? { usage } : {}),
    ...(interrupted || finish === 'max-tokens' ? { cut: true as const } : {}),
  } as const;
}

function shownResult({ message, error }: EventData['tool/result']) {
  const [block] = message.content;
  const failed = error?.code ?? (block?.isError ? 'error' : undefined);
  return {
    kind: 'result',
    callId: block?.toolCallId ?? '',
    text: textOf(block?.content ?? []),
    ...(failed === undefined ? {} : { error: failed }),
  } as const;
}

function textOf(content: readonly { type: string; text?: unknown }[]): string {
  return content
    .filter((block): block is TextBlock => block?.type === 'text' && typeof block.text === 'string')
    .map(({ text }) => text)
    .join('\n');
}
