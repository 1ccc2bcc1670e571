/** Any number of fewer digits is kept by a double: most lines need no second look. */
const MANY_DIGITS = /\d{16}/;
const INTEGER = /^-?\d+$/;

/**
 * Finds a number of a JSON text that this runtime cannot keep: an integer that reads back as another one.
 * @returns the number as it is written, or undefined where all are kept
 */
export function lostInteger(json: string): string | undefined {
  if (!MANY_DIGITS.test(json)) return undefined;
  let lost: string | undefined;
  JSON.parse(json, ((_key: string, value: unknown, context?: { source?: string }) => {
    const source = context?.source;
    if (typeof value === 'number' && source !== undefined && INTEGER.test(source)) {
      // A runtime of the same kind wrote `String(value)`; another one may have written all digits.
      if (String(value) !== source && (!Number.isFinite(value) || BigInt(source) !== BigInt(value)))
        lost ??= source;
    }
    return value;
  }) as (key: string, value: unknown) => unknown);
  return lost;
}
