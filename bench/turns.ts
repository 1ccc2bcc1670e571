import { randomUUID } from 'node:crypto';
import type { BenchSite } from './bench-site.ts';
import { median, round } from './statistics.ts';

const YEAR_MS = 365 * 24 * 3600 * 1000;

/** Events and bytes of history a step, for turns of these lengths: constant, whatever the length. */
export async function historyPerStep(site: BenchSite, lengths: readonly number[]) {
  const taskQueue = await site.worker();
  const historyEventsPerStep: Record<string, number> = {};
  const historyBytesPerStep: Record<string, number> = {};
  for (const steps of lengths) {
    const sessionId = randomUUID();
    await site.turn(taskQueue, steps, sessionId);
    const { historyLength, historySize } = await site.client.workflow
      .getHandle(`session:${sessionId}`)
      .describe();
    historyEventsPerStep[steps] = round(historyLength / steps);
    historyBytesPerStep[steps] = round(historySize! / steps, 0);
  }
  return { historyEventsPerStep, historyBytesPerStep };
}

/** What readings cost a turn: each pair is a turn with a reading a step and one with a reading a year. */
export async function readingRatio(site: BenchSite, pairs: number, steps: number) {
  const every = await site.worker();
  const yearly = await site.worker({ refreshIntervalMs: YEAR_MS });
  return interleaved(
    pairs,
    steps,
    () => site.turn(every, steps),
    () => site.turn(yearly, steps),
  );
}

/** What a turn costs beside a bare workflow that calls two no-op activities and a no-op local activity a step. */
export async function turnRatio(site: BenchSite, pairs: number, steps: number) {
  const taskQueue = await site.worker();
  return interleaved(
    pairs,
    steps,
    () => site.turn(taskQueue, steps),
    () => site.bare(taskQueue, steps),
  );
}

async function interleaved(
  pairs: number,
  steps: number,
  ours: () => Promise<number>,
  other: () => Promise<number>,
) {
  // Once each before anything counts: code is compiled and connections are made.
  await ours();
  await other();
  const times: { ours: number; other: number }[] = [];
  for (let pair = 0; pair < pairs; pair += 1) {
    // Who goes first alternates, so that a machine that slows down slows both.
    if (pair % 2 === 0) times.push({ ours: await ours(), other: await other() });
    else {
      const first = await other();
      times.push({ other: first, ours: await ours() });
    }
  }
  return {
    ratio: round(median(times.map((time) => time.ours / time.other)), 3),
    stepMs: round(median(times.map((time) => time.ours / steps)), 1),
    otherStepMs: round(median(times.map((time) => time.other / steps)), 1),
  };
}
