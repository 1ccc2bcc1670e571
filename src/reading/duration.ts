const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
] as const;

/**
 * A duration as a reading says it: whole seconds, rounded down, clamped at zero (contract §1).
 * Units that are zero are left out, except seconds: `0s`, `1m 0s`, `1d 1h 1m 1s`.
 * @param ms - milliseconds
 */
export function durationText(ms: number): string {
  let seconds = Math.floor(Math.max(0, ms) / 1000);
  const parts: string[] = [];
  for (const [unit, size] of UNITS) {
    const count = Math.floor(seconds / size);
    seconds %= size;
    if (count > 0) parts.push(`${count}${unit}`);
  }
  parts.push(`${seconds}s`);
  return parts.join(' ');
}

/**
 * The whole seconds of a duration in exactly the form of {@link durationText}.
 * @returns undefined for any other text
 */
export function parseDuration(text: string): number | undefined {
  const match = /^(?:(\d+)d )?(?:(\d+)h )?(?:(\d+)m )?(\d+)s$/.exec(text);
  if (match === null) return undefined;
  const [d, h, m, s] = match.slice(1).map((part) => Number(part ?? 0)) as [number, number, number, number];
  const seconds = d * 86_400 + h * 3_600 + m * 60 + s;
  return Number.isSafeInteger(seconds * 1000) && durationText(seconds * 1000) === text ? seconds : undefined;
}
