import { describe, expect, test } from 'vitest';
import { type ReadingOptions, readingOptionsFromText, readingSettings } from '../../src/reading/settings.ts';

const HOST = { timeZone: 'UTC', tzdata: '2026c' };
const bad =
  (options: object, names = {}) =>
  () =>
    readingSettings(options as ReadingOptions, HOST, names);

describe('readingSettings', () => {
  test('defaults', () => {
    expect(readingSettings({}, HOST)).toEqual({
      fallbackZone: 'UTC',
      intervalMs: 0,
      on: [],
      tzdata: '2026c',
      notes: [],
    });
    expect(readingSettings({}, { timeZone: undefined, tzdata: undefined })).toMatchObject({
      fallbackZone: 'UTC',
      tzdata: 'unknown',
      notes: [expect.any(String)],
    });
  });

  test('zones are primary, occasions each once and in order, -0 is 0', () => {
    const options: ReadingOptions = {
      timeZone: 'us/eastern',
      userTimeZone: 'Asia/Calcutta',
      refreshIntervalMs: -0,
      refreshOn: ['compaction', 'zone-change', 'compaction'],
    };
    const settings = readingSettings(options, { timeZone: undefined, tzdata: '2026c' });
    expect(settings).toEqual({
      fallbackZone: 'America/New_York',
      userTimeZone: 'Asia/Kolkata',
      intervalMs: 0,
      on: ['zone-change', 'compaction'],
      tzdata: '2026c',
      notes: [],
    });
    expect(Object.is(settings.intervalMs, 0)).toBe(true);
  });

  test.each<[string, object]>([
    ['config-time-zone-invalid', { timeZone: 'Japan' }],
    ['config-time-zone-invalid', { timeZone: '' }],
    ['config-time-zone-invalid', { timeZone: 'Etc/Unknown' }],
    ['config-time-zone-invalid', { timeZone: null }],
    ['config-time-zone-invalid', { userTimeZone: '+08:00' }],
    ['config-type-invalid', { userTimeZone: 8 }],
    ['config-refresh-interval-invalid', { refreshIntervalMs: null }],
    ['config-refresh-interval-invalid', { refreshIntervalMs: -1 }],
    ['config-refresh-interval-invalid', { refreshIntervalMs: 2 ** 53 }],
    ['config-refresh-interval-invalid', { refreshIntervalMs: Number.NaN }],
    ['config-type-invalid', { refreshIntervalMs: '60000' }],
    ['config-refresh-on-invalid', { refreshOn: ['zone-change', 'sunrise'] }],
    ['config-type-invalid', { refreshOn: 'zone-change' }],
  ])('%s: %j, in one line that names option, value and what is allowed', (code, options) => {
    expect(bad(options)).toThrow(
      expect.objectContaining({
        code,
        message: expect.stringMatching(new RegExp(`^${Object.keys(options)[0]} is [^\n]+; allowed: [^\n]+$`)),
      }),
    );
  });

  test('an option goes by the name under which it was given, and a long value is cut', () => {
    const names = { timeZone: 'TIME_CONTEXT_TIME_ZONE' };
    expect(bad({ timeZone: 'CST' }, names)).toThrow(
      /^TIME_CONTEXT_TIME_ZONE is "CST"; allowed: UTC, or an IANA name/,
    );
    expect(bad({ timeZone: 'x\n'.repeat(1000) })).toThrow(/^timeZone is "(x\\n)+.?.?…; allowed/);
  });
});

describe('options from text', () => {
  test('are the same options; empty is absent', () => {
    const text = {
      timeZone: 'Europe/Berlin',
      userTimeZone: '',
      refreshIntervalMs: '60000',
      refreshOn: 'zone-change, compaction',
    };
    expect(readingOptionsFromText(text)).toEqual({
      timeZone: 'Europe/Berlin',
      refreshIntervalMs: 60_000,
      refreshOn: ['zone-change', 'compaction'],
    });
    expect(readingOptionsFromText({ refreshIntervalMs: undefined })).toEqual({});
  });

  test.each(['1m', '-1', '1e3', '0x10', ' 1', '1.0', 'NaN'])('%j is no interval', (refreshIntervalMs) => {
    const names = { refreshIntervalMs: 'TIME_CONTEXT_REFRESH_INTERVAL_MS' };
    expect(() => readingOptionsFromText({ refreshIntervalMs }, names)).toThrow(
      expect.objectContaining({
        code: 'config-refresh-interval-invalid',
        message: expect.stringMatching(/^TIME_CONTEXT_REFRESH_INTERVAL_MS is ".+"; allowed: /),
      }),
    );
  });
});
