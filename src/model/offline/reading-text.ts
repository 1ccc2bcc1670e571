import { Temporal } from 'temporal-polyfill';

/** What the offline model understood of a reading's text, which is all that a model ever gets of it. */
export interface ReadReading {
  turn: number;
  step: number;
  instant: Temporal.Instant;
  /** The wall clock as the reading shows it, and the zone in which it does. */
  clock: { local: Temporal.PlainDateTime; zone: string };
  zone:
    | { known: true; name: string }
    /** `names` is empty where the request named no zone. */
    | { known: false; names: string[] };
  /** The words of line 3: a duration, or null for `unavailable`. */
  elapsed: { since: 'message' | 'step'; duration: string | null };
}

const FIRST_WORDS = 'Time sampled while preparing turn ';
const LINE_1 =
  /^Time sampled while preparing turn (\d+), step (\d+): (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)([+-]\d\d:\d\d)\[([^\]]+)\]$/;
const LINE_2 =
  /^[A-Z][a-z]+day\. Time zone (?:of this request|set for this user|of this reminder): (?:(unknown)|mixed \(([^)]*)\)|([^;]+));/;
const LINE_3 =
  /^Elapsed since the preceding (model-visible message|step context): (unavailable|(?:\d+[dhm] )*\d+s)\.$/;

/**
 * Reads a reading's text back; null where the text is not one.
 * Prose is parsed here alone: a model has nothing else. Everything that is not a model asks the log's data.
 */
export function readReadingText(text: string): ReadReading | null {
  if (!text.startsWith(FIRST_WORDS)) return null;
  const [first = '', second = '', third = ''] = text.split('\n', 4);
  const head = LINE_1.exec(first);
  const zone = LINE_2.exec(second);
  const elapsed = LINE_3.exec(third);
  if (!head || !zone || !elapsed) return null;
  const instant = readInstant(`${head[3]}${head[4]}`);
  if (!instant) return null;
  return {
    turn: Number(head[1]),
    step: Number(head[2]),
    instant,
    clock: { local: Temporal.PlainDateTime.from(head[3]!), zone: head[5]! },
    zone: zone[3]
      ? { known: true, name: zone[3] }
      : { known: false, names: zone[2] ? zone[2].split(', ') : [] },
    elapsed: {
      since: elapsed[1] === 'step context' ? 'step' : 'message',
      duration: elapsed[2] === 'unavailable' ? null : elapsed[2]!,
    },
  };
}

/** The offset that stands in the text decides, so that zone data of today cannot move an old reading. */
function readInstant(text: string): Temporal.Instant | null {
  try {
    return Temporal.Instant.from(text);
  } catch {
    return null;
  }
}
