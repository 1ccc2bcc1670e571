import { Context } from '@temporalio/activity';
import type { ReadingData, UserMessage } from '../contract.ts';

/** Counts readings by zone status, and steps whose reading the interval held back. */
export function countReading(prepared: { due: true; reading: ReadingData } | { due: false }): void {
  if (prepared.due) count('time_context_readings', { zone_status: prepared.reading.zone.status });
  else count('time_context_readings_suppressed', {});
}

/** Counts zones that are no zone here: stored ones this runtime does not know, and given ones it did not accept. */
export function countUnknownZones(unknown: readonly string[], batch: readonly UserMessage[]): void {
  const refused = batch.filter(
    ({ source, prompt }) => prompt?.givenTimeZone !== undefined && !('clientTimeZone' in source),
  );
  const zones = unknown.length + refused.length;
  if (zones > 0) count('time_context_unknown_zones', {}, zones);
}

function count(name: string, tags: Record<string, string>, by = 1): void {
  Context.current().metricMeter.createCounter(name).add(by, tags);
}
