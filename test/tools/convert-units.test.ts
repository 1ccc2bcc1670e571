import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/contract.ts';
import { convertUnits } from '../../src/tools/convert-units.ts';
import { parseArguments } from '../../src/tools/tool.ts';
import { QUANTITIES, unitNames, unitsNamed } from '../../src/tools/units.ts';

const context = { idempotencyKey: 's/1/1/0', signal: new AbortController().signal, now: () => 0 };

async function convert(
  value: number,
  from: string,
  to: string,
): Promise<{ [key: string]: Json | undefined }> {
  return (await convertUnits.execute({ value, from, to }, context)) as { [key: string]: Json | undefined };
}

describe('convert_units', () => {
  it.each([
    [10, 'km', 'miles', 6.21371192237],
    [1, 'inch', 'cm', 2.54],
    [1, 'mile', 'm', 1609.344],
    [1, 'NM', 'km', 1.852],
    [1, 'lb', 'g', 453.59237],
    [1, 'tonne', 'kg', 1000],
    [0, '°C', '°F', 32],
    [32, 'F', 'celsius', 0],
    [98.6, 'degrees fahrenheit', 'degrees C', 37],
    [-40, 'c', 'f', -40],
    [0, 'K', 'C', -273.15],
    [-459.67, 'F', 'K', 0],
    [1, 'us gallon', 'l', 3.785411784],
    [1, 'imperial gallons', 'L', 4.54609],
    [1, 'm³', 'litre', 1000],
    [100, 'km/h', 'mph', 62.1371192237],
    [36, 'km/h', 'm/s', 10],
    [1, 'MiB', 'B', 1_048_576],
    [8, 'Mb', 'MB', 1],
    [1.5, 'hours', 'min', 90],
    [2, 'weeks', 'days', 14],
    [-5, 'm', 'cm', -500],
    [1e300, 'km', 'm', 1e303],
  ])('%d %s in %s', async (value, from, to, result) => {
    expect(await convert(value, from, to)).toMatchObject({ value, result });
  });

  it('names the units that it took', async () => {
    expect(await convert(10, ' KM ', 'Miles')).toEqual({
      value: 10,
      from: 'kilometre',
      result: 6.21371192237,
      to: 'mile',
      quantity: 'length',
    });
  });

  it('lists what is allowed for an unknown unit', async () => {
    const { error } = (await convert(1, 'parsec', 'km')) as { error: { [key: string]: Json } };
    expect(error).toMatchObject({
      code: 'unknown_unit',
      message: expect.stringContaining('from: the unit "parsec"'),
    });
    expect(Object.keys(error.allowed as object)).toEqual([...QUANTITIES]);
    expect((await convert(1, 'km', '')).error).toMatchObject({ code: 'unknown_unit' });
  });

  it.each([
    ['gallon', ['us gallon', 'imperial gallon']],
    ['tons', ['tonne', 'short ton', 'long ton']],
    ['mb', ['megabit', 'megabyte']],
    ['fl oz', ['us fluid ounce', 'imperial fluid ounce']],
  ])('asks which %s is meant', async (unit, allowed) => {
    expect((await convert(1, unit, 'l')).error).toMatchObject({ code: 'ambiguous_unit', allowed });
  });

  it.each([
    [1, 'km', 'kg', 'different_quantities'],
    [1, 'm', 's', 'different_quantities'],
    [-300, 'C', 'F', 'out_of_range'],
    [1e308, 'km', 'nm', 'out_of_range'],
  ])('refuses %d %s in %s', async (value, from, to, code) => {
    expect((await convert(value, from, to)).error).toMatchObject({ code });
  });

  it('answers no minus zero, which JSON would lose', async () => {
    const answer = await convert(-0, 'm', 'm');
    expect(JSON.parse(JSON.stringify(answer))).toEqual(answer);
    expect(Object.is(answer.result, 0)).toBe(true);
  });

  it('is there and back the same, for every pair of units of a quantity', async () => {
    for (const quantity of QUANTITIES) {
      const names = unitNames(quantity);
      for (const from of names) {
        expect(unitsNamed(from)).toHaveLength(1);
        for (const to of names) {
          const there = await convert(300, from, to);
          const back = await convert(there.result as number, to, from);
          expect(back.result).toBeCloseTo(300, 6);
        }
      }
    }
  });

  it.each([
    '{"value":"10","from":"km","to":"mile"}',
    '{"value":1e999,"from":"km","to":"mile"}',
    '{"value":1}',
  ])('refuses the arguments %s', (raw) => {
    expect(parseArguments(convertUnits, raw).ok).toBe(false);
  });
});
