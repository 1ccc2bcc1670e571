import { z } from 'zod';
import type { Json } from '../contract.ts';
import { defineTool, toolError } from './tool.ts';
import { QUANTITIES, type Quantity, type Unit, unitNames, unitsNamed } from './units.ts';

/** Results carry this many significant digits: what binary fractions add behind them is noise. */
const DIGITS = 12;

/**
 * `convert_units`: answers `{ value, from, result, to, quantity }` with the full names of the units it took, so that
 * a misread symbol is seen. Errors: `unknown_unit`, `ambiguous_unit`, `different_quantities`, `out_of_range`.
 */
export const convertUnits = defineTool({
  name: 'convert_units',
  description: `Converts a number from one unit to another. Quantities: ${QUANTITIES.join(', ')}. Units by name or symbol, such as km, mile, lb, °C, us gallon, km/h, MiB, hour.`,
  parameters: z.strictObject({
    value: z.number().describe('The number to convert.'),
    from: z.string().min(1).max(64).describe('Its unit, such as "km".'),
    to: z.string().min(1).max(64).describe('The unit wanted, such as "miles".'),
  }),
  retry: 'safe',
  async execute({ value, from, to }) {
    const source = oneUnit('from', from);
    if ('error' in source) return source.error;
    const target = oneUnit('to', to);
    if ('error' in target) return target.error;
    return convert(value, source.unit, target.unit);
  },
});

function convert(value: number, from: Unit, to: Unit): Json {
  if (from.quantity !== to.quantity) {
    return toolError(
      'different_quantities',
      `${from.name} is a unit of ${from.quantity}, ${to.name} of ${to.quantity}; both must measure the same.`,
      { allowed: unitNames(from.quantity) },
    );
  }
  const base = value * from.factor + from.offset;
  // Rounding noise of a unit's own zero must not look like less than nothing.
  if (from.quantity === 'temperature' && base < -1e-9) {
    return toolError('out_of_range', `${value} ${from.name} is below absolute zero.`);
  }
  const result = from === to ? value : rounded((base - to.offset) / to.factor, from.quantity);
  if (!Number.isFinite(result)) return toolError('out_of_range', 'The result is too large for a number.');
  return {
    value: plain(value),
    from: from.name,
    result: plain(result),
    to: to.name,
    quantity: from.quantity,
  };
}

/** Cuts the noise: digits past the twelfth, and past the ninth decimal where the zeros of two scales were subtracted. */
function rounded(result: number, quantity: Quantity): number {
  const short = Number(result.toPrecision(DIGITS));
  return quantity === 'temperature' ? Number(short.toFixed(9)) : short;
}

/** Minus zero is no JSON that comes back. */
function plain(number: number): number {
  return number === 0 ? 0 : number;
}

function oneUnit(field: 'from' | 'to', text: string): { unit: Unit } | { error: Json } {
  const found = unitsNamed(text);
  if (found.length === 1) return { unit: found[0]! };
  if (found.length > 1) {
    const names = found.map(({ name }) => name);
    const message = `${field}: ${JSON.stringify(text)} may mean ${names.join(' or ')}; say which.`;
    return { error: toolError('ambiguous_unit', message, { allowed: names }) };
  }
  const allowed = Object.fromEntries(QUANTITIES.map((quantity) => [quantity, unitNames(quantity)]));
  const message = `${field}: the unit ${JSON.stringify(text)} is not known; use one of the units listed in "allowed".`;
  return { error: toolError('unknown_unit', message, { allowed }) };
}
