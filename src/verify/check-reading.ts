import type { LogEvent, ReadingData, ReadingZone, RefreshDecision, UserMessage } from '../contract.ts';
import type { EventPoint } from '../reading/elapsed.ts';
import { type ParsedReading, parseReading } from '../reading/parse.ts';
import { isExactReadingSource } from '../reading/source.ts';
import { readingText } from '../reading/text.ts';
import { plausibleInstant } from '../reading/timestamp.ts';
import { sameZone } from '../reading/zone-class.ts';
import { checkZone } from './check-zone.ts';
import { isCount, isObject, isOrdinal, isTime } from './envelope.ts';
import { type Report, shown } from './problem.ts';

/** What the log says about the step that a reading stands in. */
export interface ReadingContext {
  turn: number;
  step: number;
  /** The turn is of this product: its readings carry their facts as data. */
  ours: boolean;
  turnZones: ReadonlySet<string>;
  baseline: EventPoint | undefined;
  stepReading: EventPoint | undefined;
  /** The last event on the surface before the batch, whatever it is: DeepSeek Harness counts from it. */
  surfaceEvent: EventPoint | undefined;
  /** `acceptedAt` of the batch's newest prompt. */
  acceptedAt: number | undefined;
  refresh: RefreshDecision | undefined;
}

/** What is right and yet worth a note. */
export type Peculiarity = 'foreign-wording' | 'without-data' | 'foreign-baseline' | 'unknown-zone';

/**
 * Checks a reading against the log and against itself (contract §1, §3, §4, §9). It asks no tz data and no clock.
 * @returns what is worth a note
 */
export function checkReading(event: LogEvent, context: ReadingContext, report: Report): Peculiarity[] {
  const message = event.data as UserMessage;
  const [block] = message.content as unknown[];
  const text =
    isObject(block) && block.type === 'text' && typeof block.text === 'string' ? block.text : undefined;
  if (message.content.length !== 1 || text === undefined || Object.keys(block as object).length !== 2) {
    report('reading-shape', 'one text block', shown(message.content));
    return [];
  }
  if (!isExactReadingSource(message.source, text)) {
    report('reading-shape', "exactly a snapshot source with the message's text", shown(message.source));
  }
  if (event.surfaceOp !== 'append') report('reading-shape', 'surfaceOp "append"', shown(event.surfaceOp));
  const parsed = parseReading(text);
  if (parsed === undefined) {
    report('reading-text', 'the lines of a reading', shown(text));
    return [];
  }
  if (message.reading === undefined && !context.ours) return checkText(event, text, parsed, context, report);
  if (!isReadingData(message.reading)) {
    report('reading-data', 'the facts of a reading', shown(message.reading));
    return [];
  }
  checkFacts(event, text, parsed, message.reading, context, report);
  return message.reading.unknownZones?.length ? ['unknown-zone'] : [];
}

/** A reading of ours: its data against the log, its text against its data. */
function checkFacts(
  event: LogEvent,
  text: string,
  parsed: ParsedReading,
  data: ReadingData,
  context: ReadingContext,
  report: Report,
): void {
  const derived = readingText(data, parsed.timestamp);
  if (text !== derived) report('reading-text', shown(derived), shown(text));
  if (!sameZone(parsed.at.zone, data.zone.display))
    report('reading-text', `a timestamp in ${data.zone.display}`, parsed.timestamp);
  checkPlace(data, context, report);

  const second = Math.floor(data.instant / 1000) * 1000;
  if (parsed.at.instant !== second)
    report('reading-time', `a timestamp of ${new Date(second).toISOString()}`, parsed.timestamp);
  checkTimestamp(parsed, report);
  if (data.instant > event.time)
    report('reading-time', `an instant no later than the event, ${event.time}`, `${data.instant}`);
  if (context.refresh?.due && context.refresh.at !== data.instant) {
    report(
      'refresh',
      `decided at the instant of the reading, ${data.instant}`,
      `decided at ${context.refresh.at}`,
    );
  }

  checkZone(data.zone, context.turnZones, data.unknownZones ?? [], false, report);

  const { since, from } = expectedBaseline(data.step, context);
  const { elapsed } = data;
  if (elapsed.since !== since) report('reading-elapsed', `since ${since}`, `since ${elapsed.since}`);
  if (elapsed.seq !== (from?.seq ?? null))
    report(
      'reading-elapsed',
      `counted from ${from === undefined ? 'nothing' : `event ${from.seq}`}`,
      `from ${elapsed.seq}`,
    );
  else if (from !== undefined) {
    const ms = Math.max(0, data.instant - from.time);
    if (elapsed.ms !== ms) report('reading-elapsed', `${ms} ms since event ${from.seq}`, `${elapsed.ms} ms`);
  }
  const wentBack = from !== undefined && from.time > data.instant;
  if ((data.clockWentBack ?? false) !== wentBack)
    report('reading-elapsed', `clockWentBack ${wentBack}`, shown(data.clockWentBack));

  const { acceptedAt } = context;
  const age =
    acceptedAt === undefined ? undefined : Math.max(0, data.instant - acceptedAt - (data.clockSkewMs ?? 0));
  if (data.promptAgeMs !== age)
    report('reading-elapsed', `promptAgeMs ${age}`, `promptAgeMs ${data.promptAgeMs}`);
}

/** A reading of another log: its facts are those of its text, in whole seconds. */
function checkText(
  event: LogEvent,
  text: string,
  parsed: ParsedReading,
  context: ReadingContext,
  report: Report,
): Peculiarity[] {
  checkPlace(parsed, context, report);
  checkTimestamp(parsed, report);
  const { instant } = parsed.at;
  if (instant > event.time)
    report(
      'reading-time',
      `a timestamp no later than the event, ${new Date(event.time).toISOString()}`,
      parsed.timestamp,
    );
  checkZone(parsed.zone, context.turnZones, [], parsed.foreign, report);
  if (!parsed.foreign) {
    const ms = parsed.elapsedSeconds === null ? null : parsed.elapsedSeconds * 1000;
    const elapsed = { since: parsed.since, seq: null, ms };
    const age = parsed.promptAgeSeconds === undefined ? {} : { promptAgeMs: parsed.promptAgeSeconds * 1000 };
    const derived = readingText(
      { turn: parsed.turn, step: parsed.step, zone: parsed.zone, elapsed, ...age },
      parsed.timestamp,
    );
    if (text !== derived) report('reading-text', shown(derived), shown(text));
  }

  const { since, from } = expectedBaseline(parsed.step, context);
  if (parsed.since !== since) report('reading-elapsed', `since ${since}`, `since ${parsed.since}`);
  // The clock was read within the second of the timestamp, and before the event was written.
  const latest = Math.min(instant + 999, Math.max(instant, event.time));
  const fits = (point: EventPoint | undefined) =>
    point === undefined
      ? parsed.elapsedSeconds === null
      : parsed.elapsedSeconds !== null &&
        parsed.elapsedSeconds >= seconds(instant - point.time) &&
        parsed.elapsedSeconds <= seconds(latest - point.time);
  const peculiarities: Peculiarity[] = [parsed.foreign ? 'foreign-wording' : 'without-data'];
  if (!fits(from)) {
    if (parsed.foreign && parsed.step === 1 && fits(context.surfaceEvent))
      peculiarities.push('foreign-baseline');
    else {
      const expected =
        from === undefined ? 'unavailable' : `${seconds(instant - from.time)} s since event ${from.seq}`;
      report(
        'reading-elapsed',
        expected,
        parsed.elapsedSeconds === null ? 'unavailable' : `${parsed.elapsedSeconds} s`,
      );
    }
  }
  return peculiarities;
}

function seconds(ms: number): number {
  return Math.floor(Math.max(0, ms) / 1000);
}

function checkPlace(
  said: { turn: number; step: number },
  { turn, step }: ReadingContext,
  report: Report,
): void {
  if (said.turn !== turn || said.step !== step)
    report('reading-place', `turn ${turn}, step ${step}`, `turn ${said.turn}, step ${said.step}`);
}

/** The one offset that is known without tz data is that of UTC. */
function checkTimestamp({ at, timestamp }: ParsedReading, report: Report): void {
  if (!plausibleInstant(at.instant))
    report('reading-time', 'an instant in the years 2000 to 9999', timestamp);
  if (sameZone(at.zone, 'UTC') && at.local !== at.instant)
    report('reading-time', 'the offset +00:00 of UTC', timestamp);
}

function expectedBaseline(
  step: number,
  context: ReadingContext,
): { since: 'message' | 'reading'; from: EventPoint | undefined } {
  return step === 1
    ? { since: 'message', from: context.baseline }
    : { since: 'reading', from: context.stepReading };
}

function isReadingData(value: unknown): value is ReadingData {
  if (!isObject(value)) return false;
  const {
    turn,
    step,
    instant,
    zone,
    elapsed,
    tzdata,
    clockWentBack,
    promptAgeMs,
    clockSkewMs,
    unknownZones,
  } = value;
  const needed =
    isOrdinal(turn) &&
    isOrdinal(step) &&
    isTime(instant) &&
    plausibleInstant(instant) &&
    isZone(zone) &&
    isElapsed(elapsed);
  const optional =
    (clockWentBack === undefined || clockWentBack === true) &&
    (promptAgeMs === undefined || (typeof promptAgeMs === 'number' && promptAgeMs >= 0)) &&
    (clockSkewMs === undefined || Number.isFinite(clockSkewMs)) &&
    (unknownZones === undefined || isStrings(unknownZones));
  return needed && optional && typeof tzdata === 'string' && tzdata !== '';
}

const STATUSES: readonly unknown[] = [
  'resolved',
  'configured',
  'scheduled',
  'mixed',
  'unavailable',
] satisfies ReadingZone['status'][];

function isZone(value: unknown): value is ReadingZone {
  if (!isObject(value) || Object.keys(value).length !== 4) return false;
  const { status, name, names, display } = value;
  return (
    STATUSES.includes(status) &&
    (name === null || typeof name === 'string') &&
    isStrings(names) &&
    typeof display === 'string'
  );
}

function isElapsed(value: unknown): value is ReadingData['elapsed'] {
  if (!isObject(value) || Object.keys(value).length !== 3) return false;
  const { since, seq, ms } = value;
  const both = (seq === null && ms === null) || (isCount(seq) && isCount(ms));
  return (since === 'message' || since === 'reading') && both;
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}
