import { LogError } from './log-error.ts';

/**
 * The JSON text of event data. What comes back from it equals what went in; anything else is refused.
 * @throws LogError `not-json` that names the place.
 */
export function losslessJson(value: unknown): string {
  check(value, 'data');
  return JSON.stringify(value);
}

function check(value: unknown, place: string): void {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return;
    case 'number':
      if (Number.isFinite(value) && !Object.is(value, -0)) return;
      break;
    case 'object':
      if (value === null) return;
      if (Array.isArray(value)) {
        for (let i = 0; i < value.length; i++) check(value[i], `${place}[${i}]`);
        return;
      }
      if (Object.getPrototypeOf(value) === Object.prototype || Object.getPrototypeOf(value) === null) {
        if (
          Object.getOwnPropertySymbols(value).length > 0 ||
          typeof (value as { toJSON?: unknown }).toJSON === 'function'
        )
          break;
        for (const key of Object.keys(value))
          check((value as Record<string, unknown>)[key], `${place}.${key}`);
        return;
      }
      break;
    default:
  }
  throw new LogError(
    'not-json',
    `${place} is ${describe(value)}; an event's data is lossless JSON: strings, finite numbers, booleans, null, arrays, plain objects`,
  );
}

function describe(value: unknown): string {
  if (Object.is(value, -0)) return '-0';
  return typeof value === 'object'
    ? (value?.constructor?.name ?? 'an object')
    : `${typeof value} ${String(value)}`;
}
