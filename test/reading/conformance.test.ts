/**
 * The conformance cases, all of them: `test/cases/conformance.json`, described in the project's `conformance.md`.
 *
 * The log of a case is fed to `ReadingFold`, its options go through `readingSettings`, its process zone through
 * `processZone`, and the reading comes from `prepareReading`: nothing of the product is replaced. What stands around
 * them in a pre-step (other listeners that reject, throw, add messages or take their time, and a cancelled turn) is
 * mirrored by `preStep` below, since that belongs to the activity and its tests.
 */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { LogEvent, UserMessage } from '../../src/contract.ts';
import { ReadingFold } from '../../src/reading/fold.ts';
import { type PreparedReading, prepareReading } from '../../src/reading/reading.ts';
import { type ReadingOptions, readingSettings } from '../../src/reading/settings.ts';

interface ShortMessage {
  text: string;
  source: Record<string, unknown>;
}

interface Case {
  id: string;
  input: {
    config: Record<string, unknown>;
    processTimeZone: string;
    sessionEvents: {
      type: string;
      time: number;
      data: Record<string, unknown>;
      surfaceOp?: LogEvent['surfaceOp'];
    }[];
    turn: number;
    step: number;
    proposedMessages: ShortMessage[];
    decision?: { kind: 'enter'; messages: ShortMessage[] } | { kind: 'reject' } | { kind: 'throw' };
    decisionTookMs?: number;
    nowMs: number;
    abort?: 'before' | 'during';
  };
  expected:
    | { due: false }
    | { due: true; line1: string; line2: string; elapsed: string; zone: { status: string; names: string[] } }
    | { error: string; phase: 'load' | 'pre-step' };
}

const { cases } = JSON.parse(readFileSync(new URL('../cases/conformance.json', import.meta.url), 'utf8')) as {
  cases: Case[];
};

/** What JSON cannot write. */
function revive(value: unknown): unknown {
  const number = (value as { $number?: string } | null)?.$number;
  return number === undefined ? value : Number(number);
}

function message({ text, source }: ShortMessage, id: string): UserMessage {
  const sections =
    source.plugin === 'time-context' && source.form ? { sections: [{ name: 'time-context', text }] } : {};
  return {
    id,
    role: 'user',
    content: [{ type: 'text', text }],
    source: { ...source, ...sections } as UserMessage['source'],
  };
}

const SURFACE = new Set(['user/message', 'assistant/message', 'tool/result']);

function fullEvent(event: Case['input']['sessionEvents'][number], seq: number): LogEvent {
  const data =
    event.type === 'user/message' ? message(event.data as unknown as ShortMessage, `m${seq}`) : event.data;
  return { seq, surfaceOp: 'append', ...event, data } as LogEvent;
}

class CodedError extends Error {
  readonly code: string;
  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

/** A pre-step around `prepareReading`, as small as the cases allow. */
function preStep({ input }: Case): PreparedReading | { due: false } {
  const config = Object.fromEntries(
    Object.entries(input.config).map(([name, value]) => [name, revive(value)]),
  );
  const settings = readingSettings(config as ReadingOptions, {
    timeZone: input.processTimeZone,
    tzdata: process.versions.tz,
  });
  const fold = new ReadingFold();
  for (const [seq, event] of input.sessionEvents.entries()) {
    const full = fullEvent(event, seq);
    if (!SURFACE.has(full.type)) delete full.surfaceOp;
    fold.feed(full);
  }
  const { decision, abort } = input;
  if (decision?.kind === 'throw') throw new CodedError('downstream-error');
  if (decision?.kind === 'reject' || abort !== undefined) return { due: false };
  const batch = (decision?.messages ?? input.proposedMessages).map((short, i) => message(short, `b${i}`));
  const now = input.nowMs + (input.decisionTookMs ?? 0);
  return prepareReading(
    { ...fold.facts(input.turn), turn: input.turn, step: input.step, now, batch },
    settings,
  );
}

test('all cases are here', () => {
  expect(cases).toHaveLength(183);
  expect(new Set(cases.map(({ id }) => id)).size).toBe(183);
});

test.each(cases)('$id', (case_) => {
  const { expected, input } = case_;
  if ('error' in expected) {
    const attempt = () => preStep(case_);
    expect(attempt).toThrow(expect.objectContaining({ code: expected.error }));
    if (expected.phase === 'load') {
      const [option] = Object.keys(input.config);
      expect(attempt).toThrow(new RegExp(`^${option} is .+; allowed: .+$`));
    }
    return;
  }
  const prepared = preStep(case_);
  expect(prepared.due).toBe(expected.due);
  if (!expected.due || !prepared.due) return;
  const { text, source, reading } = prepared;
  expect(text.split('\n')).toEqual([expected.line1, expected.line2, expected.elapsed]);
  expect({ status: reading.zone.status, names: reading.zone.names }).toEqual(expected.zone);
  expect(source).toEqual({
    kind: 'plugin',
    plugin: 'time-context',
    form: 'snapshot',
    sections: [{ name: 'time-context', text }],
  });
  expect(JSON.parse(JSON.stringify(reading))).toEqual(reading);
});
