import { ZONE_CLASSES } from './zone-table.ts';

/** Every name of the table in lower case, to the primary name of its class. */
const PRIMARY = new Map<string, string>();
for (const line of ZONE_CLASSES.trim().split('\n')) {
  const names = line.trim().split(' ');
  for (const name of names) PRIMARY.set(name.toLowerCase(), names[0]!);
}

/**
 * The primary IANA name of a zone's alias class, by our table alone: it asks no runtime and no tz data (contract §4).
 * @param name - a zone name in any letter case
 * @returns undefined where the table does not hold the name
 */
export function tablePrimary(name: string): string | undefined {
  return PRIMARY.get(name.toLowerCase());
}

/** Whether two names are aliases of one zone, by our table; names that it does not hold are one only if they are equal but for case. */
export function sameZone(a: string, b: string): boolean {
  return classKey(a) === classKey(b);
}

/** What two names of one alias class have in common. */
export function classKey(name: string): string {
  return (tablePrimary(name) ?? name).toLowerCase();
}
