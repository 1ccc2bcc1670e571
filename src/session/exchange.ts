/** Sessions as JSON Lines: the header first, then one event a line (contract §5). */
import { type LogEvent, SESSION_ID, type SessionHeader } from '../contract.ts';
import { ReadingFold } from '../reading/fold.ts';
import { checkData } from '../verify/data.ts';
import { checkEnvelope, checkHeader } from '../verify/envelope.ts';
import { ExchangeError, readExchange } from '../verify/file.ts';
import type { Report } from '../verify/problem.ts';
import { SurfaceNodes } from '../verify/surface-nodes.ts';
import { lostInteger } from './exact-numbers.ts';
import { ImportedSlots } from './imported-slots.ts';
import { losslessJson } from './json.ts';
import { LogError } from './log-error.ts';
import { type AppendedEvent, EMPTY_SESSION, type LogTransaction, type SessionLog } from './session-log.ts';

const BATCH = 500;
const ENVELOPE = new Set(['seq', 'type', 'time', 'data', 'surfaceOp', 'sourceEventSeqs']);

/**
 * A session as the lines of its exchange, each with its end. One that is written to meanwhile gives a prefix of its log.
 * @throws LogError `unknown-session`
 */
export async function* exportSession(log: SessionLog, sessionId: string): AsyncGenerator<string, void, void> {
  yield `${JSON.stringify(await log.header(sessionId))}\n`;
  for await (const event of log.events(sessionId)) yield `${JSON.stringify(event)}\n`;
}

export interface Imported {
  sessionId: string;
  /** Events of the file. */
  events: number;
  turns: number;
  /** The last turn stands open; the next prompt closes it first. */
  open: boolean;
}

/**
 * Stores an exchange as a session, all of it or nothing. Types that this product does not know are kept as they are; an
 * event `session/end-seed` marks what was imported, unless the file ends with one.
 *
 * @param bytes - the file
 * @param options - `as`: the session's id here, in place of the file's
 * @throws ExchangeError that names the line; LogError `session-exists`, `invalid-session-id`
 */
export async function importSession(
  log: SessionLog,
  bytes: AsyncIterable<Uint8Array>,
  options: { as?: string } = {},
): Promise<Imported> {
  let line = 1;
  const exchange = await readExchange(bytes, (number, text) => {
    line = number;
    const lost = lostInteger(text);
    if (lost !== undefined)
      throw new ExchangeError(line, `expected numbers that a double can keep, found ${lost}`);
  });
  const report: Report = (_rule, expected, found) => {
    throw new ExchangeError(line, `expected ${expected}, found ${found}`);
  };
  const { header } = exchange;
  checkHeader(header, report);
  const sessionId = options.as ?? header.id;
  checkId(sessionId, options.as === undefined);
  try {
    return await log.write('import', (tx) =>
      store(tx, sessionId, header, checkedEvents(exchange.events, report), () => line),
    );
  } catch (error) {
    if (error instanceof LogError && error.code === 'not-json') throw new ExchangeError(line, error.message);
    // Nested thousands deep: no stack is endless.
    if (error instanceof RangeError) throw new ExchangeError(line, `it cannot be kept: ${error.message}`);
    throw error;
  }
}

function checkId(sessionId: string, ofFile: boolean): void {
  if (SESSION_ID.test(sessionId)) return;
  const whose = ofFile ? "the file's session id" : 'the session id';
  const remedy = ofFile ? '; import it under another id (--as)' : '';
  throw new LogError(
    'invalid-session-id',
    `${whose} ${JSON.stringify(sessionId)} is not allowed: 1 to 128 of A-Z a-z 0-9 . _ -${remedy}`,
  );
}

/**
 * The events, each checked for its envelope, its place on the surface and the data that the log looks at.
 * @param report - throws
 */
export async function* checkedEvents(
  events: AsyncIterable<LogEvent>,
  report: Report,
): AsyncGenerator<LogEvent> {
  const surface = new SurfaceNodes();
  const fold = new ReadingFold(surface.keys);
  let seq = 0;
  for await (const event of events) {
    if (checkEnvelope(event, seq, surface, report) && checkData(event, report)) fold.feed(event);
    const stranger = Object.keys(event).find((key) => !ENVELOPE.has(key));
    if (stranger !== undefined)
      report('envelope', `an event of ${[...ENVELOPE].join(', ')}`, JSON.stringify(stranger));
    // The append would refuse it too, but a batch later.
    losslessJson(event.data);
    yield event;
    seq += 1;
  }
}

async function store(
  tx: LogTransaction,
  sessionId: string,
  header: SessionHeader,
  events: AsyncIterable<LogEvent>,
  line: () => number,
): Promise<Imported> {
  await tx.create(sessionId, header);
  const slots = new ImportedSlots();
  let state = EMPTY_SESSION;
  let turns = 0;
  let lastType = '';
  let batch: AppendedEvent[] = [];
  for await (const event of events) {
    const { slot, twice } = slots.take(event);
    if (twice !== undefined) throw new ExchangeError(line(), `expected ${twice} once, found it again`);
    batch.push({ event, ...(slot === undefined ? {} : { slot }) });
    lastType = event.type;
    if (event.type === 'turn/start') turns += 1;
    if (batch.length < BATCH) continue;
    state = await tx.append(sessionId, state, batch);
    batch = [];
  }
  state = await tx.append(sessionId, state, batch);
  const imported = state.nextSeq;
  if (lastType !== 'session/end-seed') {
    state = await tx.append(sessionId, state, [{ event: { type: 'session/end-seed', data: {} } }]);
  }
  await tx.putHeader(sessionId, { ...header, seedLength: imported });
  return { sessionId, events: imported, turns, open: state.turnOpen };
}
