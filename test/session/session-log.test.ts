import { fork } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LogEvent } from '../../src/contract.ts';
import { openDatabase } from '../../src/session/database.ts';
import { type AppendedEvent, EMPTY_SESSION, SessionLog } from '../../src/session/session-log.ts';

let folder: string;
let log: SessionLog;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'time-context-log-'));
  log = new SessionLog(await openDatabase(`file:${join(folder, 'log.db')}`), { now: () => 1_000 });
});
afterEach(async () => {
  await log.close();
  await rm(folder, { recursive: true, force: true });
});

const user = (text: string, extra: object = {}): AppendedEvent => ({
  event: {
    type: 'user/message',
    data: { id: text, role: 'user', content: [{ type: 'text', text }], source: { kind: 'user' }, ...extra },
    surfaceOp: 'append',
  },
});
const replace = (start: number, end: number): AppendedEvent => ({
  event: { ...user('summary').event, surfaceOp: { op: 'replace', start, end } } as AppendedEvent['event'],
});

const append = (events: readonly AppendedEvent[], sessionId = 's') =>
  log.write('test', async (tx) => {
    const state = await tx.session(sessionId);
    if (!state) await tx.create(sessionId);
    return tx.append(sessionId, state ?? EMPTY_SESSION, events);
  });
const stored = (sessionId = 's'): Promise<LogEvent[]> => Array.fromAsync(log.events(sessionId));
const surface = async () => (await log.read((tx) => tx.surface('s'))).map(({ seq }) => seq);

describe('appending', () => {
  it('numbers events from 0 without a gap and keeps what they hold', async () => {
    await append([user('a'), user('b')]);
    await append([{ event: { type: 'future/thing', data: { kept: [1, null, { 'ключ 🕰': '' }] } } }]);
    const events = await stored();
    expect(events.map(({ seq }) => seq)).toEqual([0, 1, 2]);
    expect(events[2]).toEqual({
      seq: 2,
      type: 'future/thing',
      time: 1_000,
      data: { kept: [1, null, { 'ключ 🕰': '' }] },
    });
  });

  it.each([
    ['undefined', { a: undefined }],
    ['NaN', { a: Number.NaN }],
    ['-0', { a: -0 }],
    ['a date', { a: new Date(0) }],
    ['a function', { a: () => 1 }],
    ['a big integer', { a: 1n }],
    ['a map', { a: new Map() }],
  ])('refuses %s, which JSON would lose, and stores nothing of the batch', async (_, data) => {
    await append([user('first')]);
    await expect(append([user('second'), { event: { type: 'x', data } }])).rejects.toMatchObject({
      code: 'not-json',
    });
    expect(await stored()).toHaveLength(1);
  });

  it('is all or nothing where the decision fails after it', async () => {
    const failing = log.write('test', async (tx) => {
      await tx.create('s');
      await tx.append('s', EMPTY_SESSION, [user('a')]);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await log.sessions()).toEqual([]);
  });

  it('rolls back what came later than its attempt may', async () => {
    const late = log.write('test', (tx) => tx.create('s'), performance.now() - 1);
    await expect(late).rejects.toMatchObject({ code: 'too-late' });
    expect(await log.sessions()).toEqual([]);
  });

  it('keeps a body of 3 MB by digest, once', async () => {
    const text = 'x'.repeat(3 * 1024 * 1024);
    await append([user(text), user(text)]);
    const events = await stored();
    expect(
      events.map(({ data }) => (data as { content: { text: string }[] }).content[0]!.text.length),
    ).toEqual([text.length, text.length]);
  });

  it('refuses the same prompt twice, whoever writes', async () => {
    const prompt = user('a', { source: { kind: 'user', rpcId: 'p' }, prompt: { acceptedAt: 1 } });
    await append([prompt]);
    await expect(append([prompt])).rejects.toThrow(/UNIQUE/);
    expect(await stored()).toHaveLength(1);
  });

  it('P74: serialises writers of several processes, and loses none', { timeout: 120_000 }, async () => {
    const writer = fileURLToPath(new URL('./writer.ts', import.meta.url));
    const codes = await Promise.all(
      [0, 1, 2].map(
        (n) =>
          new Promise((resolve) =>
            fork(writer, [join(folder, 'log.db'), String(n)], { execPath: process.execPath }).once(
              'exit',
              resolve,
            ),
          ),
      ),
    );
    expect(codes).toEqual([0, 0, 0]);
    const sessions = await log.sessions();
    expect(sessions.map(({ events }) => events)).toEqual(Array.from({ length: 10 }, () => 90));
    for (const { sessionId } of sessions) {
      expect((await stored(sessionId)).map(({ seq }) => seq)).toEqual(
        Array.from({ length: 90 }, (_, seq) => seq),
      );
    }
  });
});

describe('the surface', () => {
  it('is what was appended, less what was replaced, the replacement in its place', async () => {
    await append([user('0'), user('1'), user('2'), user('3')]);
    await append([replace(1, 2)]);
    expect(await surface()).toEqual([0, 4, 3]);
    await append([user('5'), replace(0, 4)]);
    expect(await surface()).toEqual([6, 3, 5]);
    // P59: raw events are as they were.
    expect((await stored()).map(({ data }) => (data as { id: string }).id)).toEqual([
      '0',
      '1',
      '2',
      '3',
      'summary',
      '5',
      'summary',
    ]);
  });

  it.each([
    ['a shadowed event', 1, 1],
    ['a span that is backward', 3, 0],
    ['an event that is not there', 0, 99],
  ])('refuses to replace %s', async (_, start, end) => {
    await append([user('0'), user('1'), user('2'), user('3'), replace(1, 2)]);
    await expect(append([replace(start, end)])).rejects.toMatchObject({ code: 'bad-span' });
    expect(await stored()).toHaveLength(5);
  });
});

describe('look-ups', () => {
  it('the latest message before a batch is no reading, no summary and no replacement', async () => {
    await append([
      user('a'),
      user('reading', { source: { kind: 'plugin', plugin: 'time-context' } }),
      user('summary', { source: { kind: 'plugin', plugin: 'compact' } }),
      replace(0, 0),
    ]);
    expect(await log.read((tx) => tx.latestBaseline('s'))).toEqual({ seq: 0, time: 1_000 });
    expect(await log.read((tx) => tx.latestReading('s'))).toMatchObject({ seq: 1, shadowed: false });
  });
});
