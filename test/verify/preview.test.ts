import { describe, expect, test } from 'vitest';
import { batchFromJson, preview, promptFromZone } from '../../src/verify/preview.ts';
import { HEADER, LogBuilder, promptMessage, settingsOf } from '../reading/log-builder.ts';

function openLog() {
  const log = new LogBuilder();
  log.startTurn();
  log.enter([promptMessage('p1', log.now, 'Asia/Shanghai')]);
  return log.wait(2_000).answer('c1').call('c1').wait(3_000).result('c1').endStep();
}

describe('preview', () => {
  test('says what the next pre-step says', async () => {
    const log = openLog();
    const ahead = await preview(HEADER, log.events, {
      turn: 1,
      step: 2,
      now: log.now,
      batch: [],
      settings: log.settings,
    });
    const events = log.events.length;
    const prepared = log.enter();
    expect(prepared).toMatchObject(ahead);
    expect(ahead).toMatchObject({ due: true });
    expect(log.events).toHaveLength(events + 2);
  });

  test('writes nothing, and reads any iterable', async () => {
    const log = openLog();
    const before = JSON.stringify(log.events);
    const asked = {
      turn: 2,
      step: 1,
      now: log.now,
      batch: promptFromZone('asia/calcutta'),
      settings: settingsOf({ timeZone: 'Europe/Berlin' }),
    };
    async function* later() {
      yield* log.events;
    }
    const said = await preview(HEADER, later(), asked);
    expect(JSON.stringify(log.events)).toBe(before);
    expect(said).toEqual(await preview(HEADER, log.events, asked));
    expect(said).toMatchObject({
      reading: { turn: 2, step: 1, zone: { status: 'resolved', name: 'Asia/Kolkata' } },
    });
  });

  test('answers that none is due', async () => {
    const log = openLog();
    const settings = settingsOf({ refreshIntervalMs: 60_000 });
    expect(
      await preview(HEADER, log.events, { turn: 1, step: 2, now: log.now, batch: [], settings }),
    ).toEqual({ due: false });
  });

  test('refuses an implausible clock', async () => {
    const asked = { turn: 1, step: 1, now: 0, batch: [], settings: settingsOf() };
    await expect(preview(HEADER, [], asked)).rejects.toMatchObject({ code: 'implausible-clock' });
  });

  test('a browser without a zone, and one with a bad zone', () => {
    expect(promptFromZone('Etc/Unknown')[0]!.source).toEqual({ kind: 'user', rpcId: 'preview' });
    expect(() => promptFromZone('CST')).toThrow(expect.objectContaining({ code: 'invalid-time-zone' }));
    expect(() => promptFromZone('CST')).toThrow(/^the time zone "CST" is refused: .+; allowed: /);
  });

  test('a batch is an array of messages', () => {
    expect(batchFromJson([])).toEqual([]);
    const message = promptMessage('p', 0);
    expect(batchFromJson([message])).toEqual([message]);
    for (const bad of [null, {}, 'x', [null], [{}], [{ source: 'user' }]]) {
      expect(() => batchFromJson(bad)).toThrow(expect.objectContaining({ code: 'invalid-batch' }));
    }
  });
});
