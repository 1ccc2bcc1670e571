import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
