import type { ReadingData } from '../contract.ts';

/** An event by its place in the log and its time, epoch milliseconds. */
export interface EventPoint {
  seq: number;
  time: number;
}

/** `clockWentBack` is there only where it is true. */
export interface Elapsed {
  elapsed: ReadingData['elapsed'];
  clockWentBack?: true;
}

/**
 * What elapsed is counted from, and how long it is (contract §3).
 * @param step - at 1 it counts from the last message before the batch, later from the turn's previous reading
 * @param now - epoch milliseconds of the reading
 */
export function elapsedSince(
  step: number,
  now: number,
  baseline: EventPoint | undefined,
  stepReading: EventPoint | undefined,
): Elapsed {
  const since = step === 1 ? 'message' : 'reading';
  const from = step === 1 ? baseline : stepReading;
  if (from === undefined) return { elapsed: { since, seq: null, ms: null } };
  const elapsed = { since, seq: from.seq, ms: Math.max(0, now - from.time) } as const;
  return from.time > now ? { elapsed, clockWentBack: true } : { elapsed };
}
