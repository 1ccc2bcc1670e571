import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import type { LogEvent } from '../../src/contract.ts';
import { ExchangeError, readExchange, readExchangeFile } from '../../src/verify/file.ts';
import { verifyEvents } from '../../src/verify/verify.ts';
import { HEADER } from '../reading/log-builder.ts';
import { sampleLog } from './sample-log.ts';

const folder = mkdtempSync(join(tmpdir(), 'exchange-'));
afterAll(() => rmSync(folder, { recursive: true }));

const lines = (objects: unknown[]) => objects.map((object) => `${JSON.stringify(object)}\n`).join('');

async function* chunks(bytes: Uint8Array, size: number) {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

async function all(bytes: AsyncIterable<Uint8Array>) {
  const { header, events } = await readExchange(bytes);
  const read: LogEvent[] = [];
  for await (const event of events) read.push(event);
  return { header, events: read };
}

describe('an exchange file', () => {
  test('is read and verified', async () => {
    const path = join(folder, 'good.jsonl');
    writeFileSync(path, lines([HEADER, ...sampleLog()]));
    const { header, events } = await readExchangeFile(path);
    expect(await verifyEvents(header, events, { closed: true })).toMatchObject({ events: 71, problems: [] });
  });

  test.each([1, 2, 3, 7, 100_000])('is the same in chunks of %i bytes', async (size) => {
    const log = sampleLog();
    (log[2]!.data as { content: unknown }).content = [
      { type: 'text', text: 'two\nlines, \u2028, \u0085, ü, 字, 🕰' },
    ];
    const bytes = new TextEncoder().encode(lines([HEADER, ...log]));
    expect(await all(chunks(bytes, size))).toEqual({ header: HEADER, events: log });
    expect(await all(chunks(bytes.subarray(0, -1), size))).toEqual({ header: HEADER, events: log });
  });

  test.each([
    ['', 1, 'expected the header of a session, found the end of the file'],
    ['\n', 1, 'expected a JSON object, found an empty line'],
    [
      '{"type":"turn/start"}\n',
      1,
      'expected the header, {"type":"session",…}, found an object of type "turn/start"',
    ],
    [`${lines([HEADER])}{"seq":0\n`, 2, 'expected a JSON object, found '],
    [`${lines([HEADER, {}])}\n${lines([{}])}`, 3, 'expected a JSON object, found an empty line'],
    [`${lines([HEADER, {}, null])}`, 3, 'expected a JSON object, found null'],
    [`${lines([HEADER, []])}`, 2, 'expected a JSON object, found an array'],
    [`${lines([HEADER, 7])}`, 2, 'expected a JSON object, found a number'],
    [`${lines([HEADER])}"\xff"`, 2, 'expected UTF-8 text'],
  ])('%j is refused at its line', async (text, line, message) => {
    const attempt = all(chunks(Buffer.from(text, 'latin1'), 5));
    await expect(attempt).rejects.toThrow(ExchangeError);
    await expect(attempt).rejects.toMatchObject({ code: 'exchange-invalid', line });
    await expect(attempt).rejects.toThrow(`line ${line}: ${message}`);
  });

  test('that is not there is the system’s error', async () => {
    await expect(readExchangeFile(join(folder, 'none'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

describe('a file of DeepSeek Harness', () => {
  const chunk = (seq: number, time: number, delta: object) => ({
    type: 'assistant/chunk',
    seq,
    time,
    data: { turn: 1, step: 1, chunk: delta },
  });
  const rows = [
    { type: 'turn/start', seq: 0, time: 5, data: { turn: 1 } },
    {
      type: 'text-chunks',
      seq0: 1,
      time0: 6,
      data: { turn: 1, step: 1, index: 0, dt: [2, -1], texts: ['a', '', 'b'] },
    },
    {
      type: 'tool-call-chunks',
      seq0: 4,
      time0: 9,
      data: { turn: 1, step: 1, index: 1, id: 'c', name: 'n', dt: [], args: ['{}'] },
    },
    {
      type: 'reasoning-chunks',
      seq0: 5,
      time0: 9,
      data: { turn: 1, step: 1, index: 2, dt: [], texts: ['r'] },
    },
  ];
  const unpacked = [
    { type: 'turn/start', seq: 0, time: 5, data: { turn: 1 } },
    chunk(1, 6, { type: 'text-delta', index: 0, text: 'a' }),
    chunk(2, 8, { type: 'text-delta', index: 0, text: '' }),
    chunk(3, 7, { type: 'text-delta', index: 0, text: 'b' }),
    chunk(4, 9, { type: 'tool-call-delta', index: 1, id: 'c', name: 'n', argumentsDelta: '{}' }),
    chunk(5, 9, { type: 'reasoning-delta', index: 2, text: 'r' }),
  ];

  test('has runs of chunks packed into one line', async () => {
    const bytes = Buffer.from(lines([HEADER, ...rows]));
    expect((await all(chunks(bytes, 64))).events).toEqual(unpacked);
  });

  test('that is compressed is refused, with what to do', async () => {
    const bytes = zstdCompressSync(Buffer.from(lines([HEADER, ...rows])));
    await expect(all(chunks(bytes, 64))).rejects.toThrow(
      'line 1: expected UTF-8 text; decompress a .zstd file first: zstd -d',
    );
  });

  test.each([
    { seq0: -1 },
    { time0: 'now' },
    { data: null },
    { data: { ...rows[1]!.data, dt: [1] } },
    { data: { ...rows[1]!.data, dt: [1, 'x'] } },
    { data: { ...rows[1]!.data, texts: ['a', 'b', 7] } },
    { data: { ...rows[1]!.data, texts: [] } },
  ])('with a malformed run is refused at its line: %j', async (change) => {
    const attempt = all(chunks(Buffer.from(lines([HEADER, rows[0], { ...rows[1], ...change }])), 64));
    await expect(attempt).rejects.toThrow('line 3: expected a run of chunks, found a malformed text-chunks');
  });
});
