import type { ReadingData, ReadingZone, UserMessage } from '../contract.ts';
import { parseDuration } from './duration.ts';
import { type ParsedTimestamp, parseTimestamp } from './timestamp.ts';

/** What the text of a reading says. */
export interface ParsedReading {
  turn: number;
  step: number;
  timestamp: string;
  at: ParsedTimestamp;
  zone: ReadingZone;
  since: ReadingData['elapsed']['since'];
  /** Whole seconds; null: unavailable. */
  elapsedSeconds: number | null;
  /** Whole seconds of the fourth line. */
  promptAgeSeconds?: number;
  /** Line 2 has the words of DeepSeek Harness, not ours. */
  foreign: boolean;
}

const LINE_1 = /^Time sampled while preparing turn ([1-9]\d*), step ([1-9]\d*): (.+)$/;
const LINE_3 = /^Elapsed since the preceding (model-visible message|step context): (.+)\.$/;
const LINE_4 = /^The latest prompt was accepted (.+) before this reading\.$/;

/**
 * Takes the text of a reading apart, in our words or in those of DeepSeek Harness. It needs no tz data.
 * Readings of ours carry their facts as data; this is for those of other logs, and for checking.
 * @returns undefined where the text is no reading
 */
export function parseReading(text: string): ParsedReading | undefined {
  const lines = text.split('\n');
  if (lines.length < 3 || lines.length > 4) return undefined;
  const first = LINE_1.exec(lines[0]!);
  const third = LINE_3.exec(lines[2]!);
  const at = first === null ? undefined : parseTimestamp(first[3]!);
  if (first === null || third === null || at === undefined) return undefined;
  const policy = ourPolicy(lines[1]!, at.zone) ?? foreignPolicy(lines[1]!, at.zone);
  const elapsedSeconds = third[2] === 'unavailable' ? null : parseDuration(third[2]!);
  if (policy === undefined || elapsedSeconds === undefined) return undefined;
  const parsed: ParsedReading = {
    turn: Number(first[1]),
    step: Number(first[2]),
    timestamp: first[3]!,
    at,
    ...policy,
    since: third[1] === 'step context' ? 'reading' : 'message',
    elapsedSeconds,
  };
  if (lines.length === 4) {
    const fourth = LINE_4.exec(lines[3]!);
    const promptAgeSeconds = fourth === null ? undefined : parseDuration(fourth[1]!);
    if (promptAgeSeconds === undefined) return undefined;
    parsed.promptAgeSeconds = promptAgeSeconds;
  }
  return parsed;
}

/** The zone policy that a message of plugin `time-context` states: its data, else its text. */
export function zoneOfReading(message: Pick<UserMessage, 'content' | 'reading'>): ReadingZone | undefined {
  if (message.reading?.zone) return message.reading.zone;
  const text = message.content?.[0]?.text;
  return typeof text === 'string' ? parseReading(text)?.zone : undefined;
}

type Policy = Pick<ParsedReading, 'zone' | 'foreign'>;

const OURS =
  /^(?:Sun|Mon|Tues|Wednes|Thurs|Fri|Satur)day\. Time zone (of this request|set for this user|of this reminder): (.+?); (?:read dates and times that name no zone in it|ask which is meant before using a date or time that names no zone|ask before using a date or time that names no zone)\.$/;

function ourPolicy(line: string, display: string): Policy | undefined {
  const match = OURS.exec(line);
  if (match === null) return undefined;
  const [, whose, what] = match as unknown as [string, string, string];
  const mixed = /^mixed \((.+)\)$/.exec(what);
  if (mixed) return policy('mixed', null, mixed[1]!.split(', '), display, false);
  if (what === 'unknown') return policy('unavailable', null, [], display, false);
  if (whose === 'set for this user') return policy('configured', what, [], display, false);
  if (whose === 'of this reminder') return policy('scheduled', what, [], display, false);
  return policy('resolved', what, [what], display, false);
}

const FOREIGN =
  /^Browser time zone for this request: (.+?)\. (Interpret otherwise-unqualified dates and times in this zone|Ask the user to clarify otherwise-unqualified dates and times)\.$/;

function foreignPolicy(line: string, display: string): Policy | undefined {
  const match = FOREIGN.exec(line);
  if (match === null) return undefined;
  const what = match[1]!;
  if (match[2]!.startsWith('Interpret')) return policy('resolved', what, [what], display, true);
  if (what === 'unavailable') return policy('unavailable', null, [], display, true);
  const mixed = /^mixed (\["[A-Za-z0-9_+\-/]+"(?:,"[A-Za-z0-9_+\-/]+")+\])$/.exec(what);
  return mixed === null ? undefined : policy('mixed', null, JSON.parse(mixed[1]!), display, true);
}

function policy(
  status: ReadingZone['status'],
  name: string | null,
  names: string[],
  display: string,
  foreign: boolean,
): Policy {
  return { zone: { status, name, names, display }, foreign };
}
