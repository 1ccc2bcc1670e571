import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SessionHeader } from '../../src/contract.ts';
import { openDatabase } from '../../src/session/database.ts';
import { exportSession, type Imported, importSession } from '../../src/session/exchange.ts';
import { SessionLog } from '../../src/session/session-log.ts';
import { readExchange } from '../../src/verify/file.ts';
import { verifyEvents } from '../../src/verify/verify.ts';
import { HEADER } from '../reading/log-builder.ts';
import { sampleLog } from '../verify/sample-log.ts';

let folder: string;
let log: SessionLog;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'time-context-exchange-'));
  log = new SessionLog(await openDatabase(`file:${join(folder, 'sessions.db')}`));
});
afterEach(async () => {
  await log.close();
  await rm(folder, { recursive: true, force: true });
});

async function* bytes(...parts: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield typeof part === 'string' ? Buffer.from(part) : part;
}

function text(
  events: readonly unknown[],
  header: Partial<SessionHeader> & Record<string, unknown> = {},
): string {
  return [{ ...HEADER, ...header }, ...events].map((line) => `${JSON.stringify(line)}\n`).join('');
}

const take = (file: string, as?: string): Promise<Imported> =>
  importSession(log, bytes(file), as === undefined ? {} : { as });

async function exported(sessionId: string): Promise<string[]> {
  return Array.fromAsync(exportSession(log, sessionId));
}

const event = (data: unknown, seq = 0, type = 'x/any') => ({
  seq,
  type,
  time: 1_784_000_000_000 + seq,
  data,
});

describe('export and import', () => {
  it('give the same lines again, and a session that verifies', async () => {
    const events = sampleLog();
    await expect(take(text(events))).resolves.toEqual({
      sessionId: 'test',
      events: events.length,
      turns: 4,
      open: false,
    });
    const [header, ...lines] = await exported('test');
    expect(JSON.parse(header!)).toEqual({ ...HEADER, seedLength: events.length });
    expect(lines.slice(0, -1).map((line) => JSON.parse(line))).toEqual(events);
    expect(JSON.parse(lines.at(-1)!)).toMatchObject({
      seq: events.length,
      type: 'session/end-seed',
      data: {},
    });

    await take([header, ...lines].join(''), 'again');
    const [again, ...same] = await exported('again');
    expect(same).toEqual(lines);
    expect(JSON.parse(again!)).toEqual({ ...HEADER, id: 'again', seedLength: lines.length });
    const { problems } = await verifyEvents(await log.header('again'), log.events('again'), { closed: true });
    expect(problems).toEqual([]);
  });

  it('keep every JSON value as it was', async () => {
    const data = {
      numbers: [0, -1, 0.1, 1e-7, 1e21, 123456789012345680000, 2 ** 53, Number.MAX_VALUE, 5e-324],
      strings: ['', 'é\u0000\u2028\ud83d', '🕰️', '"\\'],
      empty: [{}, [], null, true, false],
      long: 'x'.repeat(300 * 1024),
    };
    await take(text([event(data), event(null, 1), event('x', 2)]));
    const [, ...lines] = await exported('test');
    expect(JSON.parse(lines[0]!)).toEqual(event(data));
    expect(lines[0]).toBe(`${JSON.stringify(event(data))}\n`);
    expect(JSON.parse(lines[1]!).data).toBeNull();
    const proto = '{"seq":0,"type":"x","time":1,"data":{"__proto__":{"a":1},"10":1,"2":2}}\n';
    await take(text([]) + proto, 'proto');
    expect((await exported('proto'))[1]).toBe(`${JSON.stringify(JSON.parse(proto))}\n`);
  });

  it('keep a log of DeepSeek Harness, its header and what we do not know', async () => {
    const path = fileURLToPath(new URL('../verify/dsh-session-0.1.0-rc.8.jsonl', import.meta.url));
    const file = await readExchange(createReadStream(path));
    const events = await Array.fromAsync(file.events);
    await importSession(log, createReadStream(path));
    const [header, ...lines] = await exported(file.header.id);
    expect(JSON.parse(header!)).toEqual({ ...file.header, seedLength: events.length });
    expect(lines.slice(0, -1).map((line) => JSON.parse(line))).toEqual(events);
    const { problems } = await verifyEvents(file.header, log.events(file.header.id));
    expect(problems).toEqual([]);
  });

  it('add no second end of the seed, and keep the parent', async () => {
    await take(text([event(1), event({}, 1, 'session/end-seed')], { parentSession: 'mother' }));
    const [header, ...lines] = await exported('test');
    expect(lines).toHaveLength(2);
    expect(JSON.parse(header!)).toEqual({ ...HEADER, parentSession: 'mother', seedLength: 2 });
  });

  it('work for a session without events', async () => {
    await expect(take(text([]))).resolves.toMatchObject({ events: 0 });
    expect(await exported('test')).toHaveLength(2);
  });

  it('leave the log as if it had been written here', async () => {
    const events = sampleLog();
    await take(text(events));
    const seen = await log.read(async (tx) => ({
      known: await tx.knownPrompts('test', ['p1', 'p5', 'p8', 'nobody']),
      reading: await tx.latestReading('test'),
      surface: (await tx.surface('test')).map(({ seq }) => seq),
      state: await tx.session('test'),
    }));
    expect([...seen.known].sort()).toEqual(['p1', 'p5', 'p8']);
    const last = events.findLast(({ data }) => (data as { reading?: unknown })?.reading);
    expect(seen.reading).toMatchObject({ seq: last!.seq, turn: 4 });
    expect(seen.state).toMatchObject({ turn: 4, turnOpen: false, nextSeq: events.length + 1 });
    const replaced = events.filter(({ surfaceOp }) => typeof surfaceOp === 'object').map(({ seq }) => seq);
    expect(seen.surface.filter((seq) => replaced.includes(seq)).length).toBeGreaterThan(0);
  });

  it('give the events of our own turns their slots again, calls by their order', async () => {
    const call = { type: 'tool-call', id: 'same', name: 'look', arguments: '{}' };
    const message = {
      id: 'a',
      role: 'assistant',
      content: [call, { ...call, id: 'other' }, call],
      source: { kind: 'model', provider: 'p', model: 'm' },
    };
    const result = (id: string) => ({
      turn: 1,
      step: 1,
      message: {
        id: `r-${id}`,
        role: 'user',
        content: [{ type: 'tool-result', toolCallId: id, content: [] }],
        source: { kind: 'tool', callId: id },
      },
    });
    const at = (type: string, data: unknown, surface = false) => ({
      type,
      data,
      ...(surface ? { surfaceOp: 'append' } : {}),
    });
    const events = [
      at('turn/start', { turn: 1, turnKey: 'key' }),
      at('step/start', { turn: 1, step: 1 }),
      at('assistant/message', { turn: 1, step: 1, message }, true),
      at('tool/call', { turn: 1, step: 1, callId: 'same', name: 'look', arguments: '{}' }),
      at('tool/call', { turn: 1, step: 1, callId: 'same', name: 'look', arguments: '{}' }),
      at('tool/call', { turn: 1, step: 1, callId: 'other', name: 'look', arguments: '{}' }),
      at('tool/result', result('other'), true),
      at('tool/result', result('same'), true),
    ].map((each, seq) => ({ seq, time: 5, ...each }));
    await expect(take(text(events))).resolves.toMatchObject({ open: true });
    const slots = ['message', 'call:0', 'call:1', 'call:2', 'result:0', 'result:1', 'result:2'];
    const found = await log.read((tx) => Promise.all(slots.map((slot) => tx.slot('test', 'key', 1, slot))));
    expect(found.map((each) => each?.seq)).toEqual([2, 3, 5, 4, 7, 6, undefined]);
    const answered = await log.read((tx) => tx.answeredCalls('test', 'key', 1));
    expect([...answered].sort()).toEqual([0, 1]);
    const own = await log.read((tx) => tx.turnOfKey('test', 'key'));
    expect(own).toEqual({ turn: 1 });
  });
});

describe('import refuses, and stores nothing', () => {
  const prompt = (seq: number, id: string) => ({
    ...event(
      {
        id: `m${seq}`,
        role: 'user',
        content: [],
        source: { kind: 'user', rpcId: id },
        prompt: { acceptedAt: 1 },
      },
      seq,
      'user/message',
    ),
    surfaceOp: 'append',
  });
  const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;

  it.each<[string, string | Uint8Array, RegExp]>([
    ['an empty file', '', /^line 1: expected the header of a session, found the end of the file$/],
    [
      'a first line that is no header',
      text([]).replace('"session"', '"sessions"'),
      /^line 1: expected the header/,
    ],
    ['another version', text([], { version: 7 }), /^line 1: expected version 0, found version 7$/],
    ['a header without an age', text([], { createdAt: '2026' as never }), /^line 1: expected createdAt/],
    [
      'what is no JSON',
      `${text([event(1)])}{"seq":1,`,
      /^line 3: expected a JSON object, found (?!.*line 1)/,
    ],
    ['a line of another kind', `${text([])}[]\n`, /^line 2: expected a JSON object, found an array$/],
    [
      'an empty line',
      `${text([])}\n${JSON.stringify(event(1))}\n`,
      /^line 2: expected a JSON object, found an empty line$/,
    ],
    [
      'bytes that are no text',
      Buffer.concat([Buffer.from(text([])), Buffer.from([0xc3, 0x28, 0x0a])]),
      /^line 2: expected UTF-8 text/,
    ],
    ['a gap', text([event(1), event(1, 2)]), /^line 3: expected seq 1, found seq 2$/],
    [
      'an event without data',
      `${text([])}{"seq":0,"type":"x","time":1}\n`,
      /^line 2: expected data, found none$/,
    ],
    ['an event without a type', text([{ ...event(1), type: 7 }]), /^line 2: expected a type, found type 7$/],
    [
      'a time that is none',
      text([{ ...event(1), time: 1.5 }]),
      /^line 2: expected time in whole epoch milliseconds/,
    ],
    [
      'a field that would be lost',
      text([{ ...event(1), extra: 1 }]),
      /^line 2: expected an event of seq, type, .*, found "extra"$/,
    ],
    [
      'a number that would be another',
      `${text([])}{"seq":0,"type":"x","time":1,"data":{"id":12345678901234567890}}\n`,
      /^line 2: expected numbers that a double can keep, found 12345678901234567890$/,
    ],
    [
      'a number that is none',
      `${text([])}{"seq":0,"type":"x","time":1,"data":1e999}\n`,
      /^line 2: data is number Infinity/,
    ],
    [
      'a zero below zero',
      `${text([])}{"seq":0,"type":"x","time":1,"data":[-0]}\n`,
      /^line 2: data\[0\] is -0/,
    ],
    ['a nest without a bottom', `${text([])}{"seq":0,"type":"x","time":1,"data":${deep}}\n`, /^line 2: /],
    [
      'a turn that is none',
      text([event({ turn: 0 }, 0, 'turn/start')]),
      /^line 2: expected turn\/start with a turn from 1/,
    ],
    [
      'a message without a source',
      text([{ ...event({ role: 'user', content: [] }, 0, 'user/message'), surfaceOp: 'append' }]),
      /^line 2: expected user\/message with /,
    ],
    [
      'a message that is on no surface',
      text([event({ role: 'user', content: [], source: {} }, 0, 'user/message')]),
      /^line 2: expected surfaceOp "append" or/,
    ],
    [
      'a span of nothing',
      text([{ ...prompt(0, 'p'), surfaceOp: { op: 'replace', start: 0, end: 0 } }]),
      /^line 2: expected a span/,
    ],
    [
      'a prompt that stands twice',
      text([prompt(0, 'p'), prompt(1, 'q'), prompt(2, 'p')]),
      /^line 4: expected prompt "p" once, found it again$/,
    ],
    [
      'a step with two starts',
      text([
        event({ turn: 1, turnKey: 'k' }, 0, 'turn/start'),
        event({ turn: 1, step: 1 }, 1, 'step/start'),
        event({ turn: 1, step: 1 }, 2, 'step/start'),
      ]),
      /^line 4: expected step\/start of turn 1, step 1 once, found it again$/,
    ],
    [
      'a turn key that opens two turns',
      text([
        event({ turn: 1, turnKey: 'k' }, 0, 'turn/start'),
        event({ turn: 1, reason: { kind: 'completed' } }, 1, 'turn/end'),
        event({ turn: 2, turnKey: 'k' }, 2, 'turn/start'),
      ]),
      /^line 4: expected turn key "k" once/,
    ],
    [
      'an id that is none here',
      text([], { id: 'a/b' }),
      /^the file's session id "a\/b" is not allowed: .*; import it under another id \(--as\)$/,
    ],
  ])('%s', async (_, file, message) => {
    const error = await importSession(log, bytes(file)).catch((failure: Error) => failure);
    expect(error).toBeInstanceOf(Error);
    expect((error as Error).message).toMatch(message);
    expect(await log.sessions()).toEqual([]);
  });

  it('a line without an end, before it takes the memory', async () => {
    const part = Buffer.alloc(1024 * 1024, 'x');
    let given = 0;
    const endless = (async function* () {
      yield Buffer.from(text([]));
      for (;;) {
        given += 1;
        yield part;
      }
    })();
    await expect(importSession(log, endless)).rejects.toThrow(
      /^line 2: expected a line of at most 67108864 bytes/,
    );
    expect(given).toBeLessThan(70);
    expect(await log.sessions()).toEqual([]);
  });

  it('an id that exists, whatever the file holds', async () => {
    await take(text([event(1)]));
    const before = await exported('test');
    await expect(take(text([event(2)]))).rejects.toMatchObject({ code: 'session-exists' });
    await expect(take(text([event(2)]), 'a b')).rejects.toMatchObject({ code: 'invalid-session-id' });
    expect(await exported('test')).toEqual(before);
  });

  it('a file that breaks off after thousands of events', async () => {
    const many = Array.from({ length: 3_000 }, (_, seq) => event(seq, seq));
    await expect(take(`${text(many)}{`)).rejects.toThrow(/^line 3002: /);
    expect(await log.sessions()).toEqual([]);
    expect(await Array.fromAsync(log.events('test'))).toEqual([]);
  });
});

describe('export', () => {
  it('of an unknown session fails', async () => {
    await expect(exported('nobody')).rejects.toMatchObject({ code: 'unknown-session' });
  });

  it('shows the fields of an event in one order, whatever the file had', async () => {
    const shuffled = { data: { b: 1, a: 2 }, time: 3, type: 'x', seq: 0 };
    await take(text([shuffled]));
    const [, line] = await exported('test');
    expect(line).toBe('{"seq":0,"type":"x","time":3,"data":{"b":1,"a":2}}\n');
  });
});
