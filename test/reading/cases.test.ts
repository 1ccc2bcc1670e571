/** Cases from practice that concern what a reading says; those about zones, timestamps and verification stand with these. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { COMPACT_PLUGIN, type UserMessage } from '../../src/contract.ts';
import { parseReading } from '../../src/reading/parse.ts';
import { type PreparedReading, prepareReading, type StepFacts } from '../../src/reading/reading.ts';
import { verifyEvents } from '../../src/verify/verify.ts';
import { HEADER, LogBuilder, plainMessage, promptMessage, settingsOf } from './log-builder.ts';

afterEach(() => void vi.useRealTimers());

const at = (iso: string) => Date.parse(iso);

/** The lines of a reading that is due. */
function lines(prepared: PreparedReading): string[] {
  if (!prepared.due) throw new Error('no reading is due');
  return prepared.text.split('\n');
}

/** The reading of a turn's first step on an empty log. */
function first(facts: Partial<StepFacts> & { now: number }, options = {}): PreparedReading {
  return prepareReading({ turn: 1, step: 1, turnZones: [], batch: [], ...facts }, settingsOf(options));
}

describe('the clock', () => {
  test('P02: it is always passed in: no source of a reading reads one', () => {
    const folder = new URL('../../src/reading/', import.meta.url);
    const clocks =
      /Date\.now|new Date\(\)|Temporal\.Now|performance\b|\.format(?:ToParts)?\(\)|DateTimeFormat\(\)|toLocale|process\.|setTimeout/;
    for (const name of readdirSync(folder)) {
      const code = readFileSync(new URL(name, folder), 'utf8').replace(
        /\/\*[\s\S]*?\*\/|\/\/.*|`[^`]*`/g,
        "''",
      );
      expect([name, clocks.exec(code.replaceAll(/process\.(timeZone|tzdata)/g, ''))?.[0]]).toEqual([
        name,
        undefined,
      ]);
    }
    vi.useFakeTimers({ now: 0 });
    expect(lines(first({ now: at('2026-07-15T09:00:00Z') }))[0]).toContain('2026-07-15T09:00:00+00:00[UTC]');
  });

  test('P08: a prompt on Saturday says Saturday, whenever the session began', () => {
    const log = new LogBuilder({ now: at('2026-07-13T07:00:00Z') });
    log.shortTurn([promptMessage('p1', log.now, 'Europe/Berlin')]);
    log.now = at('2026-07-18T07:00:00Z');
    log.startTurn();
    const said = lines(log.enter([promptMessage('p2', log.now, 'Europe/Berlin')]));
    expect(said[0]).toBe(
      'Time sampled while preparing turn 2, step 1: 2026-07-18T09:00:00+02:00[Europe/Berlin]',
    );
    expect(said[1]).toMatch(/^Saturday\. /);
  });

  test('P09: a session resumed after weeks says today, and how long it was', () => {
    const log = new LogBuilder({ now: at('2026-05-08T00:00:00+08:00') - 1_500 });
    log.shortTurn([promptMessage('p1', log.now, 'Asia/Shanghai')]);
    log.append('session/end-seed', {});
    log.now = at('2026-06-05T02:42:00+08:00');
    log.startTurn();
    const said = lines(log.enter([promptMessage('p2', log.now, 'Asia/Shanghai')]));
    expect(said[0]).toContain(': 2026-06-05T02:42:00+08:00[Asia/Shanghai]');
    expect(said[2]).toBe('Elapsed since the preceding model-visible message: 28d 2h 42m 0s.');
  });

  test('P12, P65: a day that changes between steps changes the tail, and nothing before it', () => {
    const log = new LogBuilder({ now: at('2026-07-15T23:59:58Z') });
    log.startTurn();
    for (let step = 1; step <= 4; step++) {
      const prefix = JSON.stringify(log.events);
      const said = lines(log.enter(step === 1 ? [promptMessage('p1', log.now, 'UTC')] : []));
      expect(said[1]).toMatch(step <= 2 ? /^Wednesday/ : /^Thursday/);
      expect(said[0]).toContain(step <= 2 ? '2026-07-15' : '2026-07-16');
      expect(JSON.stringify(log.events).startsWith(prefix.slice(0, -1))).toBe(true);
      log.answer('c').result('c').endStep().wait(1_500);
    }
  });

  test('P46: a wall clock that went back gives 0s, and says so as data', async () => {
    const log = new LogBuilder({ now: at('2026-07-15T12:00:10Z') });
    log.shortTurn([promptMessage('p1', log.now)]);
    log.now = at('2026-07-15T12:00:03Z');
    log.startTurn();
    const prepared = log.enter([promptMessage('p2', log.now)]);
    expect(lines(prepared)[2]).toBe('Elapsed since the preceding model-visible message: 0s.');
    expect(prepared).toMatchObject({ reading: { clockWentBack: true, elapsed: { ms: 0 } } });
    expect((await verifyEvents(HEADER, log.events)).problems).toEqual([]);
  });

  test('P70: an implausible clock makes no reading', () => {
    for (const year of [-1, 99, 999, 1970, 12_024]) {
      const now = new Date(0).setUTCFullYear(year);
      expect(() => first({ now }, { refreshIntervalMs: 1 })).toThrow(
        expect.objectContaining({ code: 'implausible-clock' }),
      );
    }
  });

  test('P81: the host’s locale and zone change nothing', () => {
    const url = (name: string) => JSON.stringify(new URL(`../../src/reading/${name}`, import.meta.url).href);
    const script = `
      import { readingSettings } from ${url('settings.ts')};
      import { prepareReading } from ${url('reading.ts')};
      const settings = readingSettings({ timeZone: 'Asia/Tokyo', userTimeZone: 'Europe/Paris' }, { timeZone: 'UTC', tzdata: 'x' });
      console.log(prepareReading({ turn: 1, step: 1, now: ${at('2026-07-15T09:00:00Z')}, turnZones: [], batch: [] }, settings).text);`;
    for (const env of [
      { LANG: 'zh_CN.UTF-8', LC_ALL: 'zh_CN.UTF-8' },
      { LANG: 'ar_EG.UTF-8', LC_ALL: 'ar_EG.UTF-8', TZ: 'America/New_York' },
      { LANG: 'C', LC_ALL: 'C', TZ: 'Not/AZone' },
    ]) {
      const out = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
        env: { ...process.env, ...env },
        encoding: 'utf8',
      });
      expect(out.split('\n').slice(0, 2)).toEqual([
        'Time sampled while preparing turn 1, step 1: 2026-07-15T11:00:00+02:00[Europe/Paris]',
        'Wednesday. Time zone set for this user: Europe/Paris; read dates and times that name no zone in it.',
      ]);
    }
  });
});

describe('the zone', () => {
  test('P49: a host’s clock is never the user’s: the reading says that the zone is unknown', () => {
    const now = at('2026-07-15T09:00:00Z');
    const said = lines(first({ now, batch: [promptMessage('p1', now)] }));
    expect(said[0]).toMatch(/\+00:00\[UTC\]$/);
    expect(said[1]).toBe(
      'Wednesday. Time zone of this request: unknown; ask before using a date or time that names no zone.',
    );
  });

  test('P51: the browser’s zone is shown, not the server’s', () => {
    const now = at('2026-07-15T09:00:00Z');
    const said = lines(
      first({ now, batch: [promptMessage('p1', now, 'America/New_York')] }, { timeZone: 'UTC' }),
    );
    expect(said[0]).toMatch(/T05:00:00-04:00\[America\/New_York\]$/);
    expect(said[1]).not.toContain('ask');
  });

  test('P52: the local time stands, with its weekday', () => {
    const now = at('2026-08-05T12:08:42Z');
    const said = lines(first({ now, batch: [promptMessage('p1', now, 'America/Chicago')] }));
    expect(said[0]).toMatch(/2026-08-05T07:08:42-05:00\[America\/Chicago\]$/);
    expect(said[1]).toMatch(/^Wednesday\./);
  });

  test('P53: date and time are both local', () => {
    const now = at('2026-07-16T04:30:00Z');
    expect(lines(first({ now, batch: [promptMessage('p1', now, 'Etc/GMT+5')] }))[0]).toMatch(
      /2026-07-15T23:30:00-05:00\[Etc\/GMT\+5\]$/,
    );
  });

  test('P61: 2026-01-19 is a Monday', () => {
    expect(lines(first({ now: at('2026-01-19T12:00:00Z') }))[1]).toMatch(/^Monday\./);
  });
});

describe('elapsed', () => {
  test('P13: 83 days are said, and the weekday', () => {
    const log = new LogBuilder({ now: at('2026-05-21T10:00:00Z') - 1_500 });
    log.shortTurn([promptMessage('p1', log.now, 'UTC')]);
    log.now = at('2026-08-12T10:00:05Z');
    log.startTurn();
    const said = lines(log.enter([promptMessage('p2', log.now, 'UTC')]));
    expect(said[2]).toBe('Elapsed since the preceding model-visible message: 83d 5s.');
    expect(said[1]).toMatch(/^Wednesday\./);
  });

  test('P14: from Tuesday 18:14 to Thursday 10:35', () => {
    const log = new LogBuilder({ now: at('2026-07-14T18:14:00+02:00') });
    log.startTurn();
    log.enter([promptMessage('p1', log.now, 'Europe/Berlin')]);
    log.answer().endStep().endTurn();
    log.now = at('2026-07-16T10:35:00+02:00');
    log.startTurn();
    expect(lines(log.enter([promptMessage('p2', log.now, 'Europe/Berlin')]))[2]).toBe(
      'Elapsed since the preceding model-visible message: 1d 16h 21m 0s.',
    );
  });

  test('P58: after compaction and two hours away it says two hours', async () => {
    const log = new LogBuilder();
    log.shortTurn([promptMessage('p1', log.now)]);
    const answered = log.now;
    log.wait(3_600_000).compact(2, 4);
    log.wait(3_600_000).startTurn();
    const prepared = log.enter([promptMessage('p2', log.now)]);
    expect(log.now - answered).toBe(7_200_000);
    expect(lines(prepared)[2]).toBe('Elapsed since the preceding model-visible message: 2h 0s.');
    expect((await verifyEvents(HEADER, log.events)).problems).toEqual([]);
  });

  test('a steering prompt and other plugins’ messages are baselines, summaries and pruned copies are not', () => {
    const log = new LogBuilder();
    log.startTurn(null).enterForeign([promptMessage('p1', log.now)]);
    expect(log.fold.facts(1).baseline).toMatchObject({ seq: 2 });
    log.append(
      'user/message',
      plainMessage('note', { kind: 'plugin', plugin: 'notes' } as UserMessage['source']),
      'append',
    );
    expect(log.fold.facts(1).baseline).toMatchObject({ seq: 3 });
    log.append(
      'user/message',
      plainMessage('summary', { kind: 'plugin', plugin: COMPACT_PLUGIN } as UserMessage['source']),
      'append',
    );
    log.append('user/message', plainMessage('copy'), { op: 'replace', start: 2, end: 2 });
    expect(log.fold.facts(1).baseline).toMatchObject({ seq: 3 });
  });
});

describe('the fourth line', () => {
  const now = at('2026-07-15T09:00:00Z');
  const fourth = (ages: number[], clockSkewMs?: number) =>
    lines(first({ now, clockSkewMs, batch: ages.map((age, i) => promptMessage(`p${i}`, now - age)) }))[3];

  test.each<[number[], number | undefined, string | undefined]>([
    [[59_999], undefined, undefined],
    [[60_000], undefined, '1m 0s'],
    [[7_200_000], undefined, '2h 0s'],
    // The newest prompt counts.
    [[7_200_000, 1_000], undefined, undefined],
    // A worker that is 3 minutes ahead did not keep the prompt waiting.
    [[185_000], 180_000, undefined],
    [[0], -120_000, '2m 0s'],
    // A server that is ahead: clamped.
    [[-5_000], undefined, undefined],
  ])('ages %j, skew %s: %s', (ages, skew, said) => {
    expect(fourth(ages, skew)).toBe(said && `The latest prompt was accepted ${said} before this reading.`);
  });

  test('no prompt, no age', () => {
    expect(first({ now, batch: [plainMessage('p')] })).toMatchObject({
      reading: expect.not.objectContaining({ promptAgeMs: expect.anything() }),
    });
    expect(first({ now, clockSkewMs: -0 })).toMatchObject({ reading: { clockSkewMs: 0 } });
  });
});

describe('refresh', () => {
  const now = at('2026-07-15T09:00:00Z');
  const berlin = {
    status: 'resolved',
    name: 'Europe/Berlin',
    names: ['Europe/Berlin'],
    display: 'Europe/Berlin',
  } as const;
  const latest = (more = {}) => ({
    seq: 3,
    time: now - 1_000,
    zone: { ...berlin, names: [...berlin.names] },
    shadowed: false,
    ...more,
  });
  const on = { refreshIntervalMs: 60_000, refreshOn: ['zone-change', 'compaction'] };
  const asked = (options: object, latestReading: StepFacts['latestReading'], zone = 'Europe/Berlin') =>
    first({ now, latestReading, batch: [promptMessage('p', now, zone)] }, options);

  test.each<[string, object, StepFacts['latestReading'], string, boolean]>([
    ['no reading yet', on, undefined, 'Europe/Berlin', true],
    ['inside the interval', on, latest(), 'Europe/Berlin', false],
    ['at the interval', on, latest({ time: now - 60_000 }), 'Europe/Berlin', true],
    ['the clock went back', on, latest({ time: now + 1 }), 'Europe/Berlin', true],
    ['another zone', on, latest(), 'Asia/Tokyo', true],
    [
      'an alias of the zone',
      on,
      latest({ zone: { ...berlin, name: 'Asia/Calcutta', names: ['Asia/Calcutta'] } }),
      'Asia/Kolkata',
      false,
    ],
    [
      'a reading whose zones cannot be read',
      on,
      { seq: 3, time: now, shadowed: false },
      'Europe/Berlin',
      true,
    ],
    [
      'the same zone, shown elsewhere',
      on,
      latest({ zone: { ...berlin, display: 'UTC' } }),
      'Europe/Berlin',
      false,
    ],
    ['a shadowed reading', on, latest({ shadowed: true }), 'Europe/Berlin', true],
    ['no occasions', { refreshIntervalMs: 60_000 }, latest({ shadowed: true }), 'Asia/Tokyo', false],
    ['occasions without an interval', { refreshOn: ['compaction'] }, latest(), 'Europe/Berlin', true],
  ])('%s', (_, options, reading, zone, due) => expect(asked(options, reading, zone).due).toBe(due));

  test('the decision says interval, occasions, outcome and instant; without an interval there is none', () => {
    expect(asked(on, latest()).decision).toEqual({
      intervalMs: 60_000,
      on: ['zone-change', 'compaction'],
      due: false,
      at: now,
    });
    expect(asked({ refreshIntervalMs: 1 }, undefined).decision).toEqual({
      intervalMs: 1,
      due: true,
      at: now,
    });
    expect(asked({}, latest()).decision).toBeUndefined();
  });
});

describe('parseReading', () => {
  test('reads back what a reading says, in every status', () => {
    const now = at('2026-07-15T09:00:00Z');
    const zones: [string[], object, object][] = [
      [['Asia/Tokyo'], {}, {}],
      [['Asia/Tokyo', 'UTC'], {}, {}],
      [[], { userTimeZone: 'Europe/Berlin' }, {}],
      [[], {}, { reminderZone: 'Europe/Madrid' }],
      [[], {}, {}],
    ];
    for (const [turnZones, options, facts] of zones) {
      const prepared = first(
        { now, turnZones, batch: [promptMessage('p', now - 61_000)], ...facts },
        options,
      );
      if (!prepared.due) throw new Error('not due');
      expect(parseReading(prepared.text)).toEqual({
        turn: 1,
        step: 1,
        timestamp: expect.stringMatching(/^2026-07-15T/),
        at: { instant: now, local: expect.any(Number), zone: prepared.zone.display },
        zone: prepared.zone,
        since: 'message',
        elapsedSeconds: null,
        promptAgeSeconds: 61,
        foreign: false,
      });
    }
  });
});
