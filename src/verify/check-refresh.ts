import type { RefreshDecision } from '../contract.ts';
import { dueByAge, type LatestReading, REFRESH_OCCASIONS } from '../reading/refresh.ts';
import { tablePrimary } from '../reading/zone-class.ts';
import { sameNames } from '../reading/zone-policy.ts';
import { isObject, isTime } from './envelope.ts';
import { type Report, shown } from './problem.ts';

/** Whether a stored decision can be looked at further (contract §2). */
export function isRefreshDecision(value: unknown): value is RefreshDecision {
  if (!isObject(value)) return false;
  const { intervalMs, on, due, at } = value;
  const occasions =
    on === undefined || (Array.isArray(on) && on.every((word) => REFRESH_OCCASIONS.includes(word)));
  return (
    Number.isSafeInteger(intervalMs) &&
    (intervalMs as number) > 0 &&
    occasions &&
    typeof due === 'boolean' &&
    isTime(at)
  );
}

/**
 * Re-derives a refresh decision from the log (contract §2).
 * @param latest - the last reading in the log when it was made
 * @param turnZones - `clientTimeZone` of the turn's prompts, the batch's included
 */
export function checkRefresh(
  refresh: RefreshDecision,
  latest: LatestReading | undefined,
  turnZones: ReadonlySet<string>,
  report: Report,
): void {
  const { intervalMs, on = [], due, at } = refresh;
  if (dueByAge(intervalMs, at, latest)) {
    if (!due)
      report(
        'refresh',
        `due: ${latest === undefined ? 'there is no earlier reading' : `${at - latest.time} ms since reading ${latest.seq}`}`,
        shown(refresh),
      );
    return;
  }
  const compacted = on.includes('compaction') && latest!.shadowed;
  const zone = on.includes('zone-change') ? zoneChange(latest!, turnZones) : 'no';
  if (due && !compacted && zone === 'no')
    report('refresh', `not due: ${at - latest!.time} ms since reading ${latest!.seq}`, shown(refresh));
  if (!due && (compacted || zone === 'yes'))
    report(
      'refresh',
      `due: ${compacted ? 'the latest reading is shadowed' : 'the zones changed'}`,
      shown(refresh),
    );
}

/**
 * Whether the zone policy differs from that of the latest reading. Without zones in the turn it may be the operator's or
 * a reminder's, and a name that our table does not hold may have counted or not: then the log does not tell.
 */
function zoneChange({ zone }: LatestReading, turnZones: ReadonlySet<string>): 'yes' | 'no' | 'unknown' {
  if (zone === undefined) return 'yes';
  const names = new Set<string>();
  for (const given of turnZones) {
    const name = tablePrimary(given);
    if (name === undefined) return 'unknown';
    names.add(name);
  }
  if (names.size === 0) return zone.names.length > 0 ? 'yes' : 'unknown';
  const before = zone.names.map((name) => tablePrimary(name) ?? name).sort();
  return sameNames(before, [...names].sort()) ? 'no' : 'yes';
}
