import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, test } from 'vitest';
import { parseTimestamp, timestampText } from '../../src/reading/timestamp.ts';
import { weekdayOf } from '../../src/reading/weekday.ts';
import { ZONE_CLASSES } from '../../src/reading/zone-table.ts';

const PRIMARY = ZONE_CLASSES.trim()
  .split('\n')
  .map((line) => line.trim().split(' ')[0]!);
const instants = fc.integer({ min: Date.UTC(2000, 0, 1), max: Date.UTC(9999, 11, 31) });

describe('timestampText', () => {
  test('is RFC 9557 with whole seconds, a numeric offset and a zone', () => {
    expect(timestampText(Date.UTC(2026, 6, 15, 1, 1, 1, 999), 'Asia/Shanghai')).toBe(
      '2026-07-15T09:01:01+08:00[Asia/Shanghai]',
    );
    expect(timestampText(Date.UTC(2026, 6, 15), 'UTC')).toBe('2026-07-15T00:00:00+00:00[UTC]');
  });

  test('reads back as its instant and zone, and its weekday is that of its local date, in every zone', () => {
    fc.assert(
      fc.property(instants, fc.constantFrom(...PRIMARY), (instant, zone) => {
        const text = timestampText(instant, zone);
        const parsed = parseTimestamp(text)!;
        expect(parsed).toMatchObject({ instant: Math.floor(instant / 1000) * 1000, zone });
        const { dayOfWeek, offsetNanoseconds } =
          Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(zone);
        expect(parsed.local - parsed.instant).toBe(offsetNanoseconds / 1e6);
        expect(weekdayOf(text)).toBe(
          ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'][dayOfWeek - 1],
        );
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    '2026-07-15T09:01:01Z[UTC]',
    '2026-07-15T09:01:01+08:00',
    '2026-07-15T09:01:01.000+08:00[Asia/Shanghai]',
    '2026-07-15T24:00:00+00:00[UTC]',
    '2026-02-29T00:00:00+00:00[UTC]',
    '2026-13-01T00:00:00+00:00[UTC]',
    '2026-07-15T09:60:00+00:00[UTC]',
    '2026-07-15T09:01:01-00:00[UTC]',
    '2026-07-15T09:01:01+24:00[UTC]',
    '2026-07-15T09:01:01+08:60[UTC]',
    '0099-01-01T00:00:00+00:00[UTC]',
    '2026-07-15T09:01:01+08:00[undefined zone]',
    '+012026-07-15T09:01:01+00:00[UTC]',
  ])('no other text reads as one: %s', (text) => expect(parseTimestamp(text)).toBeUndefined());

  test('P70: a clock outside the years 2000 to 9999 is implausible', () => {
    const refused = expect.objectContaining({ code: 'implausible-clock' });
    const bad = [
      -1,
      0,
      Date.UTC(2000, 0, 1) - 1,
      Date.UTC(10_000, 0, 1),
      Date.UTC(12_024, 0, 1),
      Number.NaN,
      1.5,
      Number.MAX_SAFE_INTEGER,
    ];
    for (const instant of bad) expect(() => timestampText(instant, 'UTC')).toThrow(refused);
    expect(() => timestampText(Date.UTC(9999, 11, 31, 23), 'Asia/Tokyo')).toThrow(refused);
    expect(timestampText(Date.UTC(2000, 0, 1), 'America/New_York')).toBe(
      '1999-12-31T19:00:00-05:00[America/New_York]',
    );
    expect(timestampText(Date.UTC(9999, 11, 31, 23, 59, 59, 999), 'UTC')).toBe(
      '9999-12-31T23:59:59+00:00[UTC]',
    );
  });

  test('P83: 15:00 in Tokyo on 2026-03-10 is 06:00Z', () => {
    expect(parseTimestamp('2026-03-10T15:00:00+09:00[Asia/Tokyo]')!.instant).toBe(Date.UTC(2026, 2, 10, 6));
  });
});
