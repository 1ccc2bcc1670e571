import { createReadStream } from 'node:fs';
import type { LogEvent, SessionHeader } from '../contract.ts';
import { isObject } from './envelope.ts';
import { isPackedChunks, unpackChunks } from './packed-chunks.ts';

/** A file that is no exchange of a session: its message names the line and what was expected there (contract §5). */
export class ExchangeError extends Error {
  readonly code = 'exchange-invalid';
  /** Counted from 1. */
  readonly line: number;

  constructor(line: number, message: string, options?: ErrorOptions) {
    super(`line ${line}: ${message}`, options);
    this.name = 'ExchangeError';
    this.line = line;
  }
}

/** A line above this many bytes is no event: nothing that this product writes comes near. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;

/** Told of each line, counted from 1, before what it holds is yielded. */
export type OnLine = (line: number, text: string) => void;

/** The header of an exchange, and its events as they are read. What they say is checked elsewhere. */
export interface Exchange {
  header: SessionHeader;
  events: AsyncIterable<LogEvent>;
}

/**
 * Reads an exchange: JSON Lines, the header first, then one event a line. It holds one line at a time.
 * Files of DeepSeek Harness are read with their runs of chunks packed into one line, as it stores them.
 * @throws ExchangeError for a line that is no JSON object, or a first line that is no header; of later lines, while `events` is read
 * @throws the error of the system (`ENOENT`, `EISDIR`…) where the file cannot be read
 */
export function readExchangeFile(path: string, onLine?: OnLine): Promise<Exchange> {
  return readExchange(createReadStream(path), onLine);
}

/** As {@link readExchangeFile}, of any stream of bytes. */
export async function readExchange(bytes: AsyncIterable<Uint8Array>, onLine?: OnLine): Promise<Exchange> {
  const lines = jsonLines(bytes, onLine);
  const first = await lines.next();
  if (first.done) throw new ExchangeError(1, 'expected the header of a session, found the end of the file');
  const { type } = first.value;
  if (type !== 'session') {
    await lines.return(undefined);
    const found =
      type === undefined ? 'an object without a type' : `an object of type ${JSON.stringify(type)}`;
    throw new ExchangeError(1, `expected the header, {"type":"session",…}, found ${found}`);
  }
  return { header: first.value as unknown as SessionHeader, events: eventsOf(lines) };
}

async function* eventsOf(
  lines: AsyncIterable<Record<string, unknown>>,
): AsyncGenerator<LogEvent, void, void> {
  let line = 1;
  for await (const value of lines) {
    line += 1;
    if (!isPackedChunks(value)) {
      yield value as unknown as LogEvent;
      continue;
    }
    const events = unpackChunks(value);
    if (events === undefined)
      throw new ExchangeError(line, `expected a run of chunks, found a malformed ${value.type}`);
    yield* events;
  }
}

async function* jsonLines(
  bytes: AsyncIterable<Uint8Array>,
  onLine?: OnLine,
): AsyncGenerator<Record<string, unknown>, void, void> {
  let line = 0;
  for await (const text of textLines(bytes)) {
    line += 1;
    if (text === undefined)
      throw new ExchangeError(line, 'expected UTF-8 text; decompress a .zstd file first: zstd -d');
    onLine?.(line, text);
    yield jsonObject(text, line);
  }
}

function jsonObject(text: string, line: number): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    // The runtime counts lines within the text, which is one line of many.
    const why = (cause as Error).message.replace(/ \(line \d+ column \d+\)$/, '');
    const found = text.trim() === '' ? 'an empty line' : why;
    throw new ExchangeError(line, `expected a JSON object, found ${found}`, { cause });
  }
  if (!isObject(value))
    throw new ExchangeError(
      line,
      `expected a JSON object, found ${value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`}`,
    );
  return value;
}

const NEWLINE = 0x0a;

/**
 * Lines end with `\n` alone: a JSON string may hold U+2028, which line readers of the platform split at.
 * A line that is not UTF-8 is undefined. The last line may lack its end.
 */
async function* textLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string | undefined, void, void> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let parts: Uint8Array[] = [];
  let size = 0;
  let line = 1;
  for await (const chunk of bytes) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      parts.push(chunk.subarray(start, end));
      yield decode(decoder, parts);
      parts = [];
      size = 0;
      line += 1;
      start = end + 1;
    }
    if (start < chunk.length) parts.push(chunk.subarray(start));
    size += chunk.length - start;
    if (size > MAX_LINE_BYTES)
      throw new ExchangeError(line, `expected a line of at most ${MAX_LINE_BYTES} bytes, found a longer one`);
  }
  if (parts.length > 0) yield decode(decoder, parts);
}

function decode(decoder: InstanceType<typeof TextDecoder>, parts: Uint8Array[]): string | undefined {
  try {
    return decoder.decode(parts.length === 1 ? parts[0] : Buffer.concat(parts));
  } catch {
    return undefined;
  }
}
