import type { ReadingZone, RefreshDecision, RefreshOccasion } from '../contract.ts';
import type { EventPoint } from './elapsed.ts';
import { samePolicy } from './zone-policy.ts';

/** The last reading in a session's raw log, shadowed and inherited ones included. */
export interface LatestReading extends EventPoint {
  /** Its zone policy; absent where the message holds none that can be read. */
  zone?: ReadingZone | undefined;
  shadowed: boolean;
}

/** The occasions on which a reading may be due whatever the interval says, in the order in which they are stored. */
export const REFRESH_OCCASIONS: readonly RefreshOccasion[] = ['zone-change', 'compaction'];

/** The age rule alone: no reading yet, the clock went back behind it, or it is old enough; equality is due (contract §2). */
export function dueByAge(intervalMs: number, now: number, latest: EventPoint | undefined): boolean {
  return latest === undefined || now < latest.time || now - latest.time >= intervalMs;
}

/**
 * Whether a reading is due under an interval (contract §2).
 * @param intervalMs - 0: every step, and there is nothing to decide
 * @returns undefined where no interval is in force: a reading is due
 */
export function refreshDecision(
  intervalMs: number,
  on: readonly RefreshOccasion[],
  now: number,
  latest: LatestReading | undefined,
  zone: ReadingZone,
): RefreshDecision | undefined {
  if (intervalMs === 0) return undefined;
  const due =
    dueByAge(intervalMs, now, latest) ||
    latest === undefined ||
    (on.includes('zone-change') && !(latest.zone && samePolicy(latest.zone, zone))) ||
    (on.includes('compaction') && latest.shadowed);
  return { intervalMs, ...(on.length > 0 ? { on: [...on] } : {}), due, at: now };
}
