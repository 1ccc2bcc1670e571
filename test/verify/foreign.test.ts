/** Logs of DeepSeek Harness: readings without data, in other words, among event types that are not ours. */
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { LogEvent, PluginSource, UserMessage } from '../../src/contract.ts';
import { isReading } from '../../src/reading/classify.ts';
import { readExchangeFile } from '../../src/verify/file.ts';
import { verifyEvents } from '../../src/verify/verify.ts';
import { foreignReading, HEADER, LogBuilder, plainMessage } from '../reading/log-builder.ts';

const RESOLVED = 'Asia/Tokyo. Interpret otherwise-unqualified dates and times in this zone.';
const MIXED =
  'mixed ["America/New_York","Asia/Tokyo"]. Ask the user to clarify otherwise-unqualified dates and times.';
const UNAVAILABLE = 'unavailable. Ask the user to clarify otherwise-unqualified dates and times.';

const prompt = (id: string, clientTimeZone?: string): UserMessage =>
  plainMessage(id, { kind: 'user', rpcId: id, ...(clientTimeZone ? { clientTimeZone } : {}) });

function foreignLog(): LogEvent[] {
  const log = new LogBuilder();
  log.append('agent/inbox/spliced', { target: 'next-turn', start: 0, inserted: [] });
  log.startTurn(null);
  log.enterForeign([
    prompt('r1', 'Asia/Tokyo'),
    foreignReading(1, 1, '2026-07-15T10:01:01+09:00[Asia/Tokyo]', RESOLVED, 'unavailable'),
  ]);
  log.request();
  log.append('request/context', { provider: 'fake', model: 'fake' });
  log.append('assistant/chunk', { turn: 1, step: 1, chunk: {} });
  log.wait(2_900).answer('c1').call('c1').wait(100).result('c1').endStep();
  // Its plugin samples the clock some time before the loop writes.
  log
    .wait(1_000)
    .enterForeign([
      prompt('r2', 'America/New_York'),
      foreignReading(1, 2, '2026-07-15T01:01:04+00:00[UTC]', MIXED, '3s'),
    ]);
  log.wait(500).answer().endStep().endTurn();
  log.append('session/end-seed', {});
  // A prompt that was rejected, in a turn without a step.
  log.startTurn(null).endTurn({ kind: 'blocked' });
  log.wait(60_000).startTurn(null);
  log.enterForeign([
    plainMessage('notes', { kind: 'plugin', plugin: 'notes' }),
    foreignReading(3, 1, '2026-07-15T01:02:05+00:00[UTC]', UNAVAILABLE, '1m 0s'),
  ]);
  log.wait(1_000).answer().endStep().endTurn();
  return log.events;
}

describe('a log of DeepSeek Harness', () => {
  test('is accepted, and its wording is noted', async () => {
    const found = await verifyEvents(HEADER, foreignLog(), { closed: true });
    expect(found).toEqual({
      events: 28,
      readings: 3,
      turns: 3,
      problems: [],
      notes: ['3 readings in the words of DeepSeek Harness'],
    });
  });

  test('as its own packages 0.1.0-rc.8 wrote it, chunks packed, is accepted', async () => {
    const path = fileURLToPath(new URL('dsh-session-0.1.0-rc.8.jsonl', import.meta.url));
    const { header, events } = await readExchangeFile(path);
    expect(await verifyEvents(header, events, { closed: true })).toEqual({
      events: 58,
      readings: 5,
      turns: 3,
      problems: [],
      notes: [
        '5 readings in the words of DeepSeek Harness',
        '1 reading counted from a message that is no baseline here, as DeepSeek Harness does',
      ],
    });
  });

  test('whose steps have no reading at all is accepted', async () => {
    const log = new LogBuilder();
    log
      .startTurn(null)
      .enterForeign([prompt('r1')])
      .answer()
      .endStep()
      .endTurn();
    expect(await verifyEvents(HEADER, log.events, { closed: true })).toMatchObject({
      problems: [],
      notes: [],
    });
  });

  test('in our words but without data is accepted, and noted', async () => {
    const log = new LogBuilder();
    log.startTurn(null);
    log.enter([prompt('r1', 'Asia/Tokyo')]);
    log.answer().endStep().endTurn();
    delete (log.events[3]!.data as UserMessage).reading;
    const found = await verifyEvents(HEADER, log.events);
    expect(found).toMatchObject({ problems: [], notes: ['1 reading without their facts as data'] });
  });

  test('that counts from a compaction summary is accepted, and noted', async () => {
    const log = new LogBuilder();
    log.startTurn(null);
    log.enterForeign([
      prompt('r1'),
      foreignReading(1, 1, '2026-07-15T01:01:01+00:00[UTC]', UNAVAILABLE, 'unavailable'),
    ]);
    log.answer().endStep().endTurn();
    log.wait(7_200_000).compact(2, 4);
    log.wait(5_000).startTurn(null);
    log.enterForeign([
      prompt('r2'),
      foreignReading(2, 1, '2026-07-15T03:01:06+00:00[UTC]', UNAVAILABLE, '5s'),
    ]);
    const found = await verifyEvents(HEADER, log.events);
    expect(found.problems).toEqual([]);
    expect(found.notes).toContain(
      '1 reading counted from a message that is no baseline here, as DeepSeek Harness does',
    );
    const right = JSON.parse(JSON.stringify(log.events).replaceAll('message: 5s.', 'message: 2h 5s.'));
    expect((await verifyEvents(HEADER, right)).problems).toEqual([]);
  });
});

describe('each change of a foreign log is found', () => {
  const text = (from: string | RegExp, to: string) => (message: UserMessage) => {
    const changed = message.content[0]!.text.replace(from, to);
    expect(changed).not.toBe(message.content[0]!.text);
    message.content[0]!.text = changed;
    (message.source as PluginSource).sections![0]!.text = changed;
  };

  test.each<[string, number, string, (message: UserMessage) => void]>([
    ['another turn', 0, 'reading-place', text('turn 1,', 'turn 2,')],
    ['another step', 1, 'reading-place', text('step 2:', 'step 3:')],
    ['a clock after its event', 0, 'reading-time', text('10:01:01', '10:01:02')],
    [
      'a zone that nobody sent',
      0,
      'reading-zone',
      text(
        /Browser.*\n/,
        'Browser time zone for this request: Asia/Seoul. Interpret otherwise-unqualified dates and times in this zone.\n',
      ),
    ],
    ['a clock not in the zone', 0, 'reading-zone', text('10:01:01+09:00[Asia/Tokyo]', '01:01:01+00:00[UTC]')],
    ['mixed, called unavailable', 1, 'reading-zone', text(/mixed \[.*\]/, 'unavailable')],
    [
      'names unsorted',
      1,
      'reading-zone',
      text('["America/New_York","Asia/Tokyo"]', '["Asia/Tokyo","America/New_York"]'),
    ],
    ['other words', 1, 'reading-text', text('Ask the user', 'Ask the person')],
    ['another elapsed', 1, 'reading-elapsed', text('3s', '4s')],
    ['elapsed of nothing', 1, 'reading-elapsed', text('3s', 'unavailable')],
    ['another baseline', 1, 'reading-elapsed', text('step context', 'model-visible message')],
    ['a day more', 2, 'reading-elapsed', text('1m 0s', '1d 1m 0s')],
    ['a 24th hour', 0, 'reading-text', text('10:01:01', '24:01:01')],
    ['a date that does not exist', 0, 'reading-text', text('2026-07-15', '2026-02-30')],
    ['a form', 0, 'reading-shape', (message) => void delete (message.source as PluginSource).form],
    ['no text', 0, 'reading-shape', (message) => void message.content.pop()],
  ])('%s', async (_, nth, rule, change) => {
    const events = foreignLog();
    const { seq, data } = events.filter(isReading)[nth]!;
    change(data as UserMessage);
    const { problems } = await verifyEvents(HEADER, events, { closed: true });
    expect(problems).toContainEqual(expect.objectContaining({ seq, rule }));
  });
});
