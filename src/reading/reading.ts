import type { PluginSource, ReadingData, ReadingZone, RefreshDecision, UserMessage } from '../contract.ts';
import { promptZone } from './classify.ts';
import { ImplausibleClockError } from './clock-error.ts';
import { type EventPoint, elapsedSince } from './elapsed.ts';
import { type LatestReading, refreshDecision } from './refresh.ts';
import type { ReadingSettings } from './settings.ts';
import { readingSource } from './source.ts';
import { readingText } from './text.ts';
import { plausibleInstant, timestampText } from './timestamp.ts';
import { zonePolicy } from './zone-policy.ts';

/** What the log and the batch say about the step that is being prepared. */
export interface StepFacts {
  turn: number;
  step: number;
  /** Wall clock, epoch milliseconds. */
  now: number;
  /** The last message before the batch, see `isBaselineMessage`. */
  baseline?: EventPoint | undefined;
  /** The previous reading of the same turn. */
  stepReading?: EventPoint | undefined;
  /** The last reading in the raw log. */
  latestReading?: LatestReading | undefined;
  /** Stored zones of the open turn's earlier prompts, in any order and number; none where the log holds no start of this turn. */
  turnZones: readonly string[];
  /** The final batch, without the reading. */
  batch: readonly UserMessage[];
  /** Worker clock minus server clock in milliseconds, where it was measured. */
  clockSkewMs?: number | undefined;
  /** The zone of the reminder that opened the turn. */
  reminderZone?: string | undefined;
}

/**
 * `decision` goes into `step/start`; it is undefined where no interval is in force.
 * `zone` is what the reading says or would say; `unknownZones` are zones that this runtime does not know, to be counted.
 */
export type PreparedReading =
  | { due: false; decision: RefreshDecision; zone: ReadingZone; unknownZones: string[] }
  | {
      due: true;
      text: string;
      source: PluginSource;
      reading: ReadingData;
      decision: RefreshDecision | undefined;
      zone: ReadingZone;
      unknownZones: string[];
    };

/**
 * Decides whether a reading is due before a step, and makes it (contract §1 to §4). The one place where writer, preview
 * and tests get a reading from.
 * @throws ImplausibleClockError (`implausible-clock`) where the clock lies outside the years 2000 to 9999
 */
export function prepareReading(facts: StepFacts, settings: ReadingSettings): PreparedReading {
  const { turn, step, now, batch, clockSkewMs } = facts;
  if (!plausibleInstant(now)) throw new ImplausibleClockError(now);
  const { zone, unknown: unknownZones } = zonePolicy({
    turnZones: [...facts.turnZones, ...batch.map(promptZone).filter((name) => name !== undefined)],
    userTimeZone: settings.userTimeZone,
    reminderZone: facts.reminderZone,
    fallbackZone: settings.fallbackZone,
  });
  const decision = refreshDecision(settings.intervalMs, settings.on, now, facts.latestReading, zone);
  if (decision?.due === false) return { due: false, decision, zone, unknownZones };

  const promptAgeMs = promptAge(batch, now, clockSkewMs);
  const reading: ReadingData = {
    turn,
    step,
    instant: now,
    zone,
    ...elapsedSince(step, now, facts.baseline, facts.stepReading),
    tzdata: settings.tzdata,
    ...(promptAgeMs === undefined ? {} : { promptAgeMs }),
    // A sum with 0 has no negative zero, which lossless JSON refuses.
    ...(clockSkewMs === undefined ? {} : { clockSkewMs: clockSkewMs + 0 }),
    ...(unknownZones.length === 0 ? {} : { unknownZones }),
  };
  const text = readingText(reading, timestampText(now, zone.display));
  return { due: true, text, source: readingSource(text), reading, decision, zone, unknownZones };
}

/**
 * Milliseconds from the acceptance of the batch's newest prompt to the reading, clamped at zero (contract §1).
 * Acceptance is on the server's clock, the reading on the worker's: their known difference does not count.
 * @returns undefined where the batch holds no prompt
 */
export function promptAge(
  batch: readonly Pick<UserMessage, 'prompt'>[],
  now: number,
  clockSkewMs: number | undefined,
): number | undefined {
  const accepted = batch
    .map((message) => message.prompt?.acceptedAt)
    .filter((time) => typeof time === 'number');
  if (accepted.length === 0) return undefined;
  return Math.max(0, now - Math.max(...accepted) - (clockSkewMs ?? 0));
}
