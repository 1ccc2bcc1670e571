/** Builds well-formed session logs for tests, with readings made by the product itself. */
import type {
  AssistantMessage,
  EventData,
  LogEvent,
  PromptFacts,
  SessionHeader,
  SurfaceOp,
  ToolResultMessage,
  TurnEndReason,
  UserMessage,
} from '../../src/contract.ts';
import { ReadingFold } from '../../src/reading/fold.ts';
import { type PreparedReading, prepareReading } from '../../src/reading/reading.ts';
import { type ReadingOptions, type ReadingSettings, readingSettings } from '../../src/reading/settings.ts';

export const HEADER: SessionHeader = {
  type: 'session',
  version: 0,
  id: 'test',
  createdAt: Date.UTC(2026, 6, 13),
};

/** Settings whose process zone is UTC. */
export function settingsOf(options: ReadingOptions = {}): ReadingSettings {
  return readingSettings(options, { timeZone: 'UTC', tzdata: process.versions.tz });
}

/** A message of another plugin, or of a user whose client is not ours. */
export function plainMessage(text: string, source: UserMessage['source'] = { kind: 'user' }): UserMessage {
  return { id: `plain-${text}`, role: 'user', content: [{ type: 'text', text }], source };
}

/** A prompt as the host stores it. */
export function promptMessage(
  id: string,
  acceptedAt: number,
  zone?: string,
  facts: Partial<PromptFacts> = {},
): UserMessage {
  const source = { kind: 'user', rpcId: id, ...(zone === undefined ? {} : { clientTimeZone: zone }) };
  return {
    id: `m-${id}`,
    role: 'user',
    content: [{ type: 'text', text: `prompt ${id}` }],
    source,
    prompt: { acceptedAt, ...facts },
  };
}

/** The three lines of DeepSeek Harness, whose readings have no data. */
export function foreignReading(
  turn: number,
  step: number,
  timestamp: string,
  policy: string,
  elapsed: string,
): UserMessage {
  const text = [
    `Time sampled while preparing turn ${turn}, step ${step}: ${timestamp}`,
    `Browser time zone for this request: ${policy}`,
    `Elapsed since the preceding ${step === 1 ? 'model-visible message' : 'step context'}: ${elapsed}.`,
  ].join('\n');
  const source = {
    kind: 'plugin',
    plugin: 'time-context',
    form: 'snapshot',
    sections: [{ name: 'time-context', text }],
  };
  return { id: `r-${turn}-${step}`, role: 'user', content: [{ type: 'text', text }], source };
}

export class LogBuilder {
  readonly events: LogEvent[] = [];
  readonly settings: ReadingSettings;
  readonly fold = new ReadingFold();
  /** The clock: epoch milliseconds. */
  now: number;
  #turn = 0;
  #step = 0;

  constructor(options: { settings?: ReadingSettings; now?: number; after?: LogBuilder } = {}) {
    this.settings = options.settings ?? settingsOf();
    this.now = options.now ?? options.after?.now ?? Date.UTC(2026, 6, 15, 1, 1, 1, 250);
    this.#turn = options.after?.turn ?? 0;
    for (const { type, data, surfaceOp, time } of options.after?.events ?? [])
      this.append(type, data, surfaceOp, { time });
  }

  get turn(): number {
    return this.#turn;
  }

  wait(ms: number): this {
    this.now += ms;
    return this;
  }

  append(type: string, data: unknown, surfaceOp?: SurfaceOp, more: Partial<LogEvent> = {}): LogEvent {
    const event: LogEvent = {
      seq: this.events.length,
      type,
      time: this.now,
      data,
      ...(surfaceOp ? { surfaceOp } : {}),
      ...more,
    };
    this.events.push(event);
    this.fold.feed(event);
    return event;
  }

  /** @param turnKey - null: a turn of another product */
  startTurn(turnKey: string | null = `key-${this.#turn + 1}`): this {
    this.#turn += 1;
    this.#step = 0;
    this.append('turn/start', { turn: this.#turn, ...(turnKey === null ? {} : { turnKey }) });
    return this;
  }

  /** Enters the next step with a batch, as a pre-step does: `step/start`, the batch, and a reading where one is due. */
  enter(
    batch: UserMessage[] = [],
    facts: { clockSkewMs?: number; reminderZone?: string } = {},
  ): PreparedReading {
    this.#step += 1;
    const at = { turn: this.#turn, step: this.#step };
    const prepared = prepareReading(
      { ...this.fold.facts(this.#turn), ...at, now: this.now, batch, ...facts },
      this.settings,
    );
    this.append('step/start', { ...at, ...(prepared.decision ? { refresh: prepared.decision } : {}) });
    for (const message of batch) this.append('user/message', message, 'append');
    if (prepared.due) {
      const { text, source, reading } = prepared;
      const message: UserMessage = {
        id: `r-${this.#turn}-${this.#step}`,
        role: 'user',
        content: [{ type: 'text', text }],
        source,
        reading,
      };
      this.append('user/message', message, 'append');
    }
    return prepared;
  }

  /** Enters the next step as another product does: with the messages given. */
  enterForeign(batch: UserMessage[]): this {
    this.#step += 1;
    this.append('step/start', { turn: this.#turn, step: this.#step });
    for (const message of batch) this.append('user/message', message, 'append');
    return this;
  }

  request(reason: EventData['request/header']['reason'] = 'initial'): this {
    this.append('request/header', { header: { config: { provider: 'fake', model: 'fake' } }, reason });
    return this;
  }

  /** The model's answer; with call ids it asks for tools. */
  answer(...calls: string[]): this {
    const message: AssistantMessage = {
      id: `a-${this.#turn}-${this.#step}`,
      role: 'assistant',
      content: [
        { type: 'text', text: 'answer' },
        ...calls.map((id) => ({ type: 'tool-call' as const, id, name: 'look', arguments: '{}' })),
      ],
      source: { kind: 'model', provider: 'fake', model: 'fake' },
    };
    this.append('assistant/message', { turn: this.#turn, step: this.#step, message }, 'append');
    return this;
  }

  call(callId: string): this {
    this.append('tool/call', { turn: this.#turn, step: this.#step, callId, name: 'look', arguments: '{}' });
    return this;
  }

  result(callId: string, surfaceOp: SurfaceOp = 'append'): this {
    const message: ToolResultMessage = {
      id: `t-${callId}-${this.events.length}`,
      role: 'user',
      content: [{ type: 'tool-result', toolCallId: callId, content: [{ type: 'text', text: 'result' }] }],
      source: { kind: 'tool', callId },
    };
    this.append('tool/result', { turn: this.#turn, step: this.#step, message }, surfaceOp);
    return this;
  }

  /** A compaction summary in the place of a span. */
  compact(start: number, end: number): this {
    const source = { kind: 'plugin', plugin: 'compact' };
    this.append('compaction/start', {});
    this.append('user/message', plainMessage('summary', source), { op: 'replace', start, end });
    this.append('compaction/end', {});
    return this;
  }

  endStep(): this {
    this.append('step/end', { turn: this.#turn, step: this.#step });
    return this;
  }

  endTurn(reason: TurnEndReason = { kind: 'completed' }): this {
    this.append('turn/end', { turn: this.#turn, reason });
    return this;
  }

  /** One whole turn of one step. */
  shortTurn(batch: UserMessage[], turnKey?: string | null): this {
    this.startTurn(turnKey);
    this.enter(batch);
    return this.wait(1_500).answer().endStep().endTurn();
  }
}
