import { LIMIT, ZONE_SHAPE } from '../contract.ts';
import { tablePrimary } from './zone-class.ts';

export { sameZone } from './zone-class.ts';

/** `name` is the primary IANA name; `reason` says in a few words what is wrong with the value. */
export type AcceptedZone = { ok: true; name: string } | { ok: false; reason: string } | { ok: 'absent' };

/** Names without a slash that are zones here: contract §4. */
const UTC_NAMES = new Set(['utc', 'gmt']);

/** What `invalid-time-zone` tells a caller that is allowed. */
export const ALLOWED_ZONES = `UTC, or an IANA name of the form Area/Location that this runtime knows, such as Europe/Berlin, up to ${LIMIT.zoneChars} characters`;

/**
 * The acceptance rule for a zone that somebody sent or configured (contract §4).
 * @param given - anything
 * @returns `absent` for undefined and `Etc/Unknown`, which both mean that there is no zone
 */
export function acceptZone(given: unknown): AcceptedZone {
  if (given === undefined) return { ok: 'absent' };
  if (typeof given !== 'string') return { ok: false, reason: 'it is not a string' };
  if (given.toLowerCase() === 'etc/unknown') return { ok: 'absent' };
  if (given.length > LIMIT.zoneChars)
    return { ok: false, reason: `it is longer than ${LIMIT.zoneChars} characters` };
  if (!ZONE_SHAPE.test(given) || (!given.includes('/') && !UTC_NAMES.has(given.toLowerCase()))) {
    return { ok: false, reason: 'it is not UTC or an Area/Location name' };
  }
  const name = primaryZone(given);
  return name === undefined
    ? { ok: false, reason: 'this runtime knows no zone of this name' }
    : { ok: true, name };
}

/**
 * The primary IANA name of any zone that this runtime knows, acceptable or not: `EST5EDT` is `America/New_York`.
 * Runtimes still answer `Asia/Calcutta`, so that the name comes from our table and only its existence from them.
 * @returns undefined where the runtime does not know the zone
 */
export function primaryZone(name: string): string | undefined {
  const runtimeName = runtimeZone(name);
  if (runtimeName === undefined) return undefined;
  return tablePrimary(name) ?? tablePrimary(runtimeName) ?? runtimeName;
}

/** Whether this runtime can show a clock in the zone. An offset such as `+08:00` is no zone (contract §4). */
export function knownZone(name: string): boolean {
  return runtimeZone(name) !== undefined;
}

/**
 * The zone of the process, mapped and never refused (contract §4).
 * @param reported - what `Intl` reports; undefined, empty or `Etc/Unknown` where `TZ` is empty or wrong
 * @returns the primary name, and a note for the operator where it had to be `UTC`
 */
export function processZone(reported: unknown): { name: string; note?: string } {
  const name =
    typeof reported === 'string' && reported.length <= LIMIT.zoneChars ? primaryZone(reported) : undefined;
  if (name !== undefined) return { name };
  const given = reported === undefined ? 'none' : JSON.stringify(reported);
  return {
    name: 'UTC',
    note: `the process has no usable time zone (TZ is empty or wrong; reported: ${given}); using UTC where no other zone is known`,
  };
}

/** Known zones by lower-case name. Unknown names are not kept: callers choose them, so there is no end to them. */
const RUNTIME_ZONES = new Map<string, string>();

/** The runtime's own name of a zone. */
function runtimeZone(name: string): string | undefined {
  const key = name.toLowerCase();
  const found = RUNTIME_ZONES.get(key);
  if (found !== undefined) return found;
  // Some runtimes take offsets, and names with letters beyond ASCII, for zones: the shape stands before the question.
  if (!ZONE_SHAPE.test(name) || !/^[A-Za-z]/.test(name)) return undefined;
  try {
    const resolved = new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone;
    if (resolved === undefined || resolved.toLowerCase() === 'etc/unknown') return undefined;
    RUNTIME_ZONES.set(key, resolved);
    return resolved;
  } catch {
    return undefined;
  }
}
