import type { ReadingZone } from '../contract.ts';
import { primaryZone } from './zone.ts';
import { sameZone } from './zone-class.ts';

/** Where the zone of a turn may come from, in the order in which it is looked for. */
export interface ZoneSources {
  /** Stored zones of the turn's prompts, the batch's included, in any order and number. */
  turnZones: readonly string[];
  /** The operator's `userTimeZone`. */
  userTimeZone?: string | undefined;
  /** The zone of the reminder that opened the turn. */
  reminderZone?: string | undefined;
  /** `timeZone` of the configuration, else the process's zone. */
  fallbackZone: string;
}

/** `unknown`: zones of the turn that this runtime does not know, each once. Their messages count as without a zone. */
export interface ZonePolicy {
  zone: ReadingZone;
  unknown: string[];
}

/**
 * The zone policy of a step and the zone that its clock is shown in (contract §4). Aliases of one zone are one zone;
 * names are primary, sorted by code unit. It never throws: a bad zone in a log ends no turn.
 */
export function zonePolicy({ turnZones, userTimeZone, reminderZone, fallbackZone }: ZoneSources): ZonePolicy {
  const names = new Set<string>();
  const unknown = new Set<string>();
  for (const given of turnZones) {
    const name = primaryZone(given);
    if (name === undefined) unknown.add(given);
    else names.add(name);
  }
  const reminder = reminderZone === undefined ? undefined : primaryZone(reminderZone);
  return { zone: decide([...names].sort(), userTimeZone, reminder, fallbackZone), unknown: [...unknown] };
}

function decide(
  names: string[],
  user: string | undefined,
  reminder: string | undefined,
  fallback: string,
): ReadingZone {
  const [only] = names;
  if (names.length > 1) return { status: 'mixed', name: null, names, display: user ?? fallback };
  if (only !== undefined) return { status: 'resolved', name: only, names, display: only };
  // A user's own zone, even a configured one, stands before that of a reminder (contract §1: "no user zone").
  if (user !== undefined) return { status: 'configured', name: user, names, display: user };
  if (reminder !== undefined) return { status: 'scheduled', name: reminder, names, display: reminder };
  return { status: 'unavailable', name: null, names, display: fallback };
}

/** Whether two readings tell the model the same about zones, whatever zone shows the clock. Names are compared as alias classes. */
export function samePolicy(a: ReadingZone, b: ReadingZone): boolean {
  return a.status === b.status && sameNames(nameList(a), nameList(b)) && sameNames(a.names, b.names);
}

/** Whether two lists hold the same zones in the same order, as alias classes. */
export function sameNames(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name, i) => sameZone(name, b[i]!));
}

function nameList(zone: ReadingZone): string[] {
  return zone.name === null ? [] : [zone.name];
}
