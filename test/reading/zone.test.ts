import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, test } from 'vitest';
import { acceptZone, knownZone, primaryZone, processZone, sameZone } from '../../src/reading/zone.ts';
import { tablePrimary } from '../../src/reading/zone-class.ts';
import { zonePolicy } from '../../src/reading/zone-policy.ts';
import { ZONE_CLASSES, ZONE_TABLE_VERSION } from '../../src/reading/zone-table.ts';

const CLASSES = ZONE_CLASSES.trim()
  .split('\n')
  .map((line) => line.trim().split(' '));
const NAMES = CLASSES.flat();
const ACCEPTED = NAMES.filter((name) => acceptZone(name).ok === true);

/** A text in any letter case. */
const anyCase = (text: string) =>
  fc
    .array(fc.boolean(), { minLength: text.length, maxLength: text.length })
    .map((upper) => [...text].map((c, i) => (upper[i] ? c.toUpperCase() : c.toLowerCase())).join(''));

describe('the acceptance rule', () => {
  test.each([
    ['UTC', 'UTC'],
    ['utc', 'UTC'],
    ['GMT', 'UTC'],
    ['Etc/UTC', 'UTC'],
    ['Etc/GMT', 'UTC'],
    ['etc/zulu', 'UTC'],
    ['Asia/Calcutta', 'Asia/Kolkata'],
    ['ASIA/KOLKATA', 'Asia/Kolkata'],
    ['Asia/Saigon', 'Asia/Ho_Chi_Minh'],
    ['Europe/Kiev', 'Europe/Kyiv'],
    ['America/Indianapolis', 'America/Indiana/Indianapolis'],
    ['america/port-au-prince', 'America/Port-au-Prince'],
    ['Europe/Oslo', 'Europe/Oslo'],
    ['Europe/Amsterdam', 'Europe/Amsterdam'],
    ['Etc/GMT+5', 'Etc/GMT+5'],
  ])('%s is %s', (given, name) => expect(acceptZone(given)).toEqual({ ok: true, name }));

  test.each([undefined, 'Etc/Unknown', 'etc/unknown'])('P06: %s means that there is none', (given) => {
    expect(acceptZone(given)).toEqual({ ok: 'absent' });
  });

  const long = `America/${'x'.repeat(57)}`;
  test.each([
    ...[
      'Japan',
      'Zulu',
      'UCT',
      'Universal',
      'Greenwich',
      'GMT0',
      'PRC',
      'EST5EDT',
      'Cuba',
      ' UTC',
      'UTC ',
      'UTC\n',
      '',
      'local',
      'undefined',
    ],
    ...[
      null,
      8,
      true,
      {},
      [],
      ['UTC'],
      long,
      'Not/Real',
      'Europe/Not_A_City',
      '/',
      'Europe/',
      '../../etc/localtime',
      'Аsia/Tokyo',
      'Etc/Unknown ',
      'U\u0000TC',
    ],
  ])('refused: %j', (given) =>
    expect(acceptZone(given)).toMatchObject({ ok: false, reason: expect.any(String) }),
  );

  test.each(['EDT', 'CST', 'EST', 'WEST', 'Pacific Standard Time', 'Mitteleuropäische Zeit'])(
    'P54: no guess: %s is refused',
    (given) => {
      expect(acceptZone(given).ok).toBe(false);
    },
  );

  test.each(['+08:00', '-05:00', '+0800', '+08', 'UTC+8', 'GMT-05:00'])(
    'P55: an offset is no zone: %s is refused',
    (given) => {
      expect(acceptZone(given).ok).toBe(false);
      expect(knownZone(given)).toBe(false);
    },
  );

  test.each(['Utc/GMT+7', 'America/New York', 'Etc/GMT 3', 'GMT-05:00'])(
    'P57: free text is refused, and no reason repeats it: %s',
    (given) => {
      const refused = acceptZone(given);
      expect(refused).toMatchObject({ ok: false });
      expect(JSON.stringify(refused)).not.toContain(given);
    },
  );

  test.each([
    ['US/Eastern', 'America/New_York'],
    ['America/Indianapolis', 'America/Indiana/Indianapolis'],
    ['Asia/Saigon', 'Asia/Ho_Chi_Minh'],
  ])('P68: an old name is accepted: %s is %s', (given, name) =>
    expect(acceptZone(given)).toEqual({ ok: true, name }),
  );

  test('the letter case of a name never matters, and its primary name is accepted as itself', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...ACCEPTED).chain((name) => fc.tuple(fc.constant(name), anyCase(name))),
        ([name, given]) => {
          const accepted = acceptZone(given);
          expect(accepted).toEqual({ ok: true, name: primaryZone(name) });
          if (accepted.ok === true) expect(acceptZone(accepted.name)).toEqual(accepted);
        },
      ),
      { numRuns: 500 },
    );
  });

  test('no text makes it throw', () => {
    fc.assert(fc.property(fc.anything(), (given) => void acceptZone(given)));
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 70 }), (given) => void acceptZone(given)));
  });
});

describe('alias classes', () => {
  test('are apart, and each name is of its class in any letter case', () => {
    expect(new Set(NAMES.map((name) => name.toLowerCase())).size).toBe(NAMES.length);
    for (const [primary, ...aliases] of CLASSES) {
      for (const alias of aliases) {
        expect(sameZone(primary!, alias.toUpperCase())).toBe(true);
        expect(primaryZone(alias)).toBe(primary);
      }
    }
  });

  test('never join zones that the runtime keeps apart, nor show another clock', () => {
    const instants = Array.from({ length: 60 }, (_, i) => Date.UTC(2001, 4 * i, 15));
    const clocks = (zone: string) =>
      instants.map(
        (t) => Temporal.Instant.fromEpochMilliseconds(t).toZonedDateTimeISO(zone).offsetNanoseconds,
      );
    for (const [primary, ...aliases] of CLASSES) {
      for (const alias of aliases.filter(knownZone))
        expect([alias, ...clocks(alias)]).toEqual([alias, ...clocks(primary!)]);
    }
  });

  test('hold every zone of this runtime', () => {
    const held = new Set(NAMES);
    for (const name of Intl.supportedValuesOf('timeZone')) expect(held).toContain(name);
    for (const [primary] of CLASSES) expect(knownZone(primary!)).toBe(true);
  });

  test('are those of the package that the table names', () => {
    const require = createRequire(import.meta.url);
    const { version } = require('cldr-bcp47/package.json');
    expect(ZONE_TABLE_VERSION).toBe(`cldr-bcp47 ${version}`);
    const types = require('cldr-bcp47/bcp47/timezone.json').keyword.u.tz as Record<
      string,
      { _alias?: string; _iana?: string }
    >;
    for (const [id, { _alias, _iana }] of Object.entries(types)) {
      if (id === 'unk') continue;
      for (const name of _alias?.split(' ') ?? []) {
        const primary = ['utc', 'gmt'].includes(id) ? 'UTC' : (_iana ?? _alias!.split(' ')[0]);
        expect([name, tablePrimary(name)]).toEqual([name, primary]);
      }
    }
  });

  test('a zone of one country is never that of another', () => {
    for (const [a, b] of [
      ['Europe/Oslo', 'Europe/Berlin'],
      ['Europe/Amsterdam', 'Europe/Brussels'],
      ['Asia/Kuala_Lumpur', 'Asia/Singapore'],
      ['Africa/Abidjan', 'Atlantic/Reykjavik'],
    ]) {
      expect(sameZone(a!, b!)).toBe(false);
    }
  });

  test('a name that no table holds is itself, but for case', () => {
    expect(sameZone('Mars/Base', 'mars/base')).toBe(true);
    expect(sameZone('Mars/Base', 'Mars/Other')).toBe(false);
    expect(primaryZone('Mars/Base')).toBeUndefined();
  });
});

describe('the zone of a turn', () => {
  const of = (...turnZones: string[]) => zonePolicy({ turnZones, fallbackZone: 'UTC' });

  test('P03: aliases of one zone are one zone', () => {
    expect(of('Asia/Kolkata', 'Asia/Calcutta').zone).toEqual({
      status: 'resolved',
      name: 'Asia/Kolkata',
      names: ['Asia/Kolkata'],
      display: 'Asia/Kolkata',
    });
    expect(of('Etc/UTC', 'UTC', 'GMT').zone).toMatchObject({ status: 'resolved', name: 'UTC' });
  });

  test('P49: without a zone it is unavailable, and the clock is the fallback', () => {
    expect(zonePolicy({ turnZones: [], fallbackZone: 'Asia/Tokyo' }).zone).toEqual({
      status: 'unavailable',
      name: null,
      names: [],
      display: 'Asia/Tokyo',
    });
  });

  test('a name that this runtime does not know is unavailable, and told', () => {
    expect(of('Mars/Base', 'Mars/Base')).toMatchObject({
      zone: { status: 'unavailable' },
      unknown: ['Mars/Base'],
    });
    expect(of('Mars/Base', 'Europe/Berlin')).toMatchObject({
      zone: { status: 'resolved', name: 'Europe/Berlin' },
      unknown: ['Mars/Base'],
    });
  });

  test('a user’s own zone stands before the configured one, that before a reminder’s', () => {
    const sources = { fallbackZone: 'UTC', userTimeZone: 'Europe/Madrid', reminderZone: 'Asia/Tokyo' };
    expect(zonePolicy({ ...sources, turnZones: ['Europe/Berlin'] }).zone).toMatchObject({
      status: 'resolved',
      display: 'Europe/Berlin',
    });
    expect(zonePolicy({ ...sources, turnZones: ['Europe/Berlin', 'UTC'] }).zone).toMatchObject({
      status: 'mixed',
      name: null,
      display: 'Europe/Madrid',
    });
    expect(zonePolicy({ ...sources, turnZones: [] }).zone).toEqual({
      status: 'configured',
      name: 'Europe/Madrid',
      names: [],
      display: 'Europe/Madrid',
    });
    expect(zonePolicy({ ...sources, userTimeZone: undefined, turnZones: [] }).zone).toEqual({
      status: 'scheduled',
      name: 'Asia/Tokyo',
      names: [],
      display: 'Asia/Tokyo',
    });
    expect(zonePolicy({ fallbackZone: 'UTC', reminderZone: 'Mars/Base', turnZones: [] }).zone.status).toBe(
      'unavailable',
    );
  });

  test('neither order nor repetition matters', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...ACCEPTED.slice(0, 40)), { maxLength: 6 }),
        fc.nat(),
        (zones, turn) => {
          const turned = zones.map((_, i) => zones[(i + turn) % zones.length]!);
          const { zone } = of(...zones);
          expect(of(...turned, ...zones).zone).toEqual(zone);
          expect([...zone.names].sort()).toEqual(zone.names);
          expect(new Set(zones.map((name) => primaryZone(name)))).toEqual(new Set(zone.names));
        },
      ),
    );
  });
});

describe('the zone of the process', () => {
  test.each([undefined, '', 'Etc/Unknown', null, 'Not/AZone', '+08:00', 'x'.repeat(100)])(
    'P07: %s is UTC, and said',
    (reported) => {
      expect(processZone(reported)).toEqual({
        name: 'UTC',
        note: expect.stringMatching(/^the process has no usable time zone .+UTC/),
      });
    },
  );

  test.each([
    ['UTC', 'UTC'],
    ['Etc/UTC', 'UTC'],
    ['EST5EDT', 'America/New_York'],
    ['Japan', 'Asia/Tokyo'],
    ['Asia/Calcutta', 'Asia/Kolkata'],
  ])('%s is mapped to %s', (reported, name) => expect(processZone(reported)).toEqual({ name }));

  test.each([
    ['', 'UTC'],
    ['Not/AZone', 'UTC'],
    ['Europe/Paris', 'Europe/Paris'],
    ['EST5EDT', 'America/New_York'],
  ])('P07: a process with TZ=%j shows %s', (TZ, zone) => {
    const url = (name: string) => JSON.stringify(new URL(`../../src/reading/${name}`, import.meta.url).href);
    const script = `
      import { readingSettings } from ${url('settings.ts')};
      import { prepareReading } from ${url('reading.ts')};
      const settings = readingSettings({}, { timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone, tzdata: process.versions.tz });
      const { text } = prepareReading({ turn: 1, step: 1, now: ${Date.UTC(2026, 0, 15, 12)}, turnZones: [], batch: [] }, settings);
      console.log(JSON.stringify({ text, notes: settings.notes.length }));`;
    const out = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      env: { ...process.env, TZ },
      encoding: 'utf8',
    });
    const { text, notes } = JSON.parse(out);
    expect(text.split('\n')[0]).toMatch(new RegExp(`\\[${zone}\\]$`));
    expect(notes).toBe(zone === 'UTC' ? 1 : 0);
  });
});
