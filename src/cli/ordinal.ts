import { usageError } from './command-error.ts';

/** A number that counts from 1, such as a turn's. */
export function ordinal(option: string, given: string): number {
  const value = Number(given);
  if (/^\d+$/.test(given) && Number.isSafeInteger(value) && value >= 1) return value;
  throw usageError(`${option} is ${JSON.stringify(given)}; allowed: whole numbers from 1 on`);
}
