import { Temporal } from 'temporal-polyfill';
import { ImplausibleClockError } from './clock-error.ts';

const EARLIEST = Date.UTC(2000, 0, 1);
const LATEST = Date.UTC(10_000, 0, 1) - 1;

/** Whether an instant lies in the years 2000 to 9999 (contract §1). */
export function plausibleInstant(instant: number): boolean {
  return Number.isSafeInteger(instant) && instant >= EARLIEST && instant <= LATEST;
}

/**
 * The timestamp of a reading: RFC 9557, whole seconds, numeric offset and zone (contract §1).
 * @param instant - epoch milliseconds
 * @param zone - a zone that this runtime knows; its name is printed as given
 * @throws ImplausibleClockError where the instant, or its local year, lies outside 2000 to 9999
 */
export function timestampText(instant: number, zone: string): string {
  if (!plausibleInstant(instant)) throw new ImplausibleClockError(instant);
  const local = new Temporal.ZonedDateTime(BigInt(instant) * 1_000_000n, zone);
  // The first hours of the year 10000 of a zone east of Greenwich have five digits.
  if (local.year > 9999) throw new ImplausibleClockError(instant);
  return local.toString({ smallestUnit: 'second' });
}

/** A timestamp taken apart, without any tz data: times are epoch milliseconds of whole seconds. */
export interface ParsedTimestamp {
  instant: number;
  /** The local fields as if they were UTC. */
  local: number;
  zone: string;
}

const TIMESTAMP =
  /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})([+-])(\d{2}):(\d{2})\[([A-Za-z0-9_+\-/]+)\]$/;

/**
 * Takes a timestamp apart: its instant is its local time less its offset, whatever this machine knows of the zone (contract §4).
 * @returns undefined where the text has another form, or names a date or time that does not exist (`24:00:00`, `02-30`)
 */
export function parseTimestamp(text: string): ParsedTimestamp | undefined {
  const match = TIMESTAMP.exec(text);
  if (match === null) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const offsetHours = Number(match[8]);
  const offsetMinutes = Number(match[9]);
  const local = Date.UTC(year, month - 1, day, hour, minute, second);
  // Date.UTC carries a 13th month or a 60th second over, and moves the years 0 to 99: what it made must read as what was given.
  if (new Date(local).toISOString().slice(0, 19) !== text.slice(0, 19)) return undefined;
  if (offsetHours > 23 || offsetMinutes > 59) return undefined;
  // The offset zero is +00:00.
  if (match[7] === '-' && offsetHours === 0 && offsetMinutes === 0) return undefined;
  const offset = (offsetHours * 60 + offsetMinutes) * 60_000 * (match[7] === '-' ? -1 : 1);
  return { instant: local - offset, local, zone: match[10]! };
}
