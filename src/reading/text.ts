import type { ReadingData, ReadingZone } from '../contract.ts';
import { durationText } from './duration.ts';
import { weekdayOf } from './weekday.ts';

/** From this age in milliseconds on, a reading says when its newest prompt was accepted (contract §1). */
export const STALE_PROMPT_MS = 60_000;

/** The facts that a reading's text says, besides its timestamp. */
export type SaidFacts = Pick<ReadingData, 'turn' | 'step' | 'zone' | 'elapsed' | 'promptAgeMs'>;

/**
 * The text of a reading: three lines, or four where its newest prompt waited, joined by one `\n` (contract §1).
 * It is a function of the facts and the timestamp alone, so that a checker needs no tz data to derive it.
 */
export function readingText(facts: SaidFacts, timestamp: string): string {
  const { turn, step, zone, elapsed, promptAgeMs } = facts;
  const since = step === 1 ? 'model-visible message' : 'step context';
  const lines = [
    `Time sampled while preparing turn ${turn}, step ${step}: ${timestamp}`,
    `${weekdayOf(timestamp)}. ${zoneLine(zone)}`,
    `Elapsed since the preceding ${since}: ${elapsed.ms === null ? 'unavailable' : durationText(elapsed.ms)}.`,
  ];
  if (promptAgeMs !== undefined && promptAgeMs >= STALE_PROMPT_MS) {
    lines.push(`The latest prompt was accepted ${durationText(promptAgeMs)} before this reading.`);
  }
  return lines.join('\n');
}

/** The zone policy in words: the second sentence of line 2. */
export function zoneLine(zone: Pick<ReadingZone, 'status' | 'name' | 'names'>): string {
  switch (zone.status) {
    case 'resolved':
      return `Time zone of this request: ${zone.name}; read dates and times that name no zone in it.`;
    case 'configured':
      return `Time zone set for this user: ${zone.name}; read dates and times that name no zone in it.`;
    case 'scheduled':
      return `Time zone of this reminder: ${zone.name}; read dates and times that name no zone in it.`;
    case 'mixed':
      return `Time zone of this request: mixed (${zone.names.join(', ')}); ask which is meant before using a date or time that names no zone.`;
    case 'unavailable':
      return 'Time zone of this request: unknown; ask before using a date or time that names no zone.';
  }
}
