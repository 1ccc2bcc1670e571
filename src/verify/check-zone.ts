import type { ReadingZone } from '../contract.ts';
import { classKey, sameZone, tablePrimary } from '../reading/zone-class.ts';
import type { Report } from './problem.ts';

/**
 * Checks a reading's zone policy against the original messages of its turn (contract §4), by alias classes.
 * @param turnZones - `clientTimeZone` of the turn's prompts, the batch's included
 * @param unknownZones - those of them that the writing runtime did not know, as the reading says
 * @param foreign - the log is not ours: no zone can come from a configuration
 */
export function checkZone(
  zone: ReadingZone,
  turnZones: ReadonlySet<string>,
  unknownZones: readonly string[],
  foreign: boolean,
  report: Report,
): void {
  const { status, name, names, display } = zone;
  const offered = new Set([...turnZones].map(classKey));
  const leftOut = new Set(unknownZones);
  for (const unknown of leftOut)
    if (!turnZones.has(unknown)) report('reading-zone', 'unknownZones of the messages of the turn', unknown);
  // A name that our table does not hold may have been known to the runtime that wrote, or not.
  const needed = new Set(
    [...turnZones].filter((given) => tablePrimary(given) !== undefined && !leftOut.has(given)).map(classKey),
  );
  const said = new Set(names.map(classKey));

  const right =
    said.size === names.length &&
    [...said].every((key) => offered.has(key)) &&
    [...needed].every((key) => said.has(key));
  if (!right) {
    report(
      'reading-zone',
      `zones ${list([...turnZones].filter((given) => !leftOut.has(given)))}`,
      `zones ${list(names)}`,
    );
    return;
  }
  if (names.some((each, i) => i > 0 && names[i - 1]! >= each))
    report('reading-zone', 'names sorted by code unit', list(names));

  const statuses =
    names.length > 1
      ? ['mixed']
      : names.length === 1
        ? ['resolved']
        : foreign
          ? ['unavailable']
          : WITHOUT_ZONE;
  if (!statuses.includes(status)) {
    report('reading-zone', `status ${statuses.join(' or ')}`, status);
    return;
  }
  const one = status !== 'mixed' && status !== 'unavailable';
  const named = one
    ? typeof name === 'string' && (names.length === 0 || sameZone(name, names[0]!))
    : name === null;
  if (!named) {
    report('reading-zone', one ? `name ${names[0] ?? 'of a zone'}` : 'no name', String(name));
    return;
  }
  if (one && !sameZone(display, name!)) report('reading-zone', `a clock shown in ${name}`, display);
}

/** A turn without zones may have had one from the operator or from its reminder: the log does not tell. */
const WITHOUT_ZONE = ['unavailable', 'configured', 'scheduled'];

function list(names: readonly string[]): string {
  return names.length === 0 ? 'none' : [...names].sort().join(', ');
}
