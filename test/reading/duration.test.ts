import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { durationText, parseDuration } from '../../src/reading/duration.ts';

describe('durationText', () => {
  test.each([
    [0, '0s'],
    [-1, '0s'],
    [999, '0s'],
    [59_999, '59s'],
    [60_000, '1m 0s'],
    [3_600_000, '1h 0s'],
    [86_400_000, '1d 0s'],
    [86_460_000, '1d 1m 0s'],
    [90_061_000, '1d 1h 1m 1s'],
    [Number.MAX_SAFE_INTEGER, '104249991d 8h 59m 0s'],
  ])('%i ms is %s', (ms, text) => expect(durationText(ms)).toBe(text));

  test('is whole seconds, and reads back', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (ms) => {
        expect(parseDuration(durationText(ms))).toBe(Math.floor(ms / 1000));
      }),
    );
  });

  test.each([
    '',
    '1m',
    '0m 5s',
    '60s',
    '61m 0s',
    '25h 0s',
    '1h 1d 0s',
    '1m  0s',
    '01s',
    '-1s',
    '1s ',
    '1.5s',
    '١s',
    `${'9'.repeat(20)}s`,
  ])('no other text reads as one: %j', (text) => expect(parseDuration(text)).toBeUndefined());
});
