import { describe, expect, test } from 'vitest';
import type { EventData, LogEvent, PluginSource, UserMessage } from '../../src/contract.ts';
import { LogVerifier } from '../../src/verify/log-verifier.ts';
import { MAX_PROBLEMS, problemText, type Rule, verifyEvents } from '../../src/verify/verify.ts';
import { HEADER, LogBuilder, promptMessage, settingsOf } from '../reading/log-builder.ts';
import { copy, readings, renumber, sampleLog } from './sample-log.ts';

const SAMPLE = sampleLog();

describe('a good log', () => {
  test('is accepted, and counted', async () => {
    const found = await verifyEvents(HEADER, SAMPLE, { closed: true });
    expect(found).toEqual({ events: SAMPLE.length, readings: 8, turns: 4, problems: [], notes: [] });
  });

  test('is accepted up to any event of it, with a note where a turn is open', async () => {
    for (let length = 0; length < SAMPLE.length; length++) {
      const next = SAMPLE[length]!;
      // A step is entered in one transaction: no log ends inside its batch.
      if (next.type === 'user/message' && next.surfaceOp === 'append') continue;
      const found = await verifyEvents(HEADER, SAMPLE.slice(0, length));
      expect(found.problems).toEqual([]);
      expect(found.notes.length).toBeLessThanOrEqual(1);
    }
    const open = await verifyEvents(HEADER, SAMPLE.slice(0, 7));
    expect(open).toMatchObject({ problems: [], notes: ['turn 1, step 1 is open at the end of the log'] });
    const closed = await verifyEvents(HEADER, SAMPLE.slice(0, 7), { closed: true });
    expect(closed.problems).toMatchObject([{ seq: null, rule: 'end' }]);
  });

  test('is read from any iterable, once', async () => {
    async function* later() {
      yield* SAMPLE;
    }
    expect((await verifyEvents(HEADER, later())).problems).toEqual([]);
    expect((await verifyEvents(HEADER, SAMPLE.values())).problems).toEqual([]);
  });

  test('is accepted event by event, as at append time', () => {
    const verifier = new LogVerifier(HEADER);
    for (const event of SAMPLE) expect(verifier.check(event)).toEqual([]);
    expect(verifier.counts).toEqual({ events: SAMPLE.length, readings: 8, turns: 4 });
  });

  test('of another loop may have steps without a reading', async () => {
    const log = new LogBuilder();
    log.startTurn();
    log
      .enterForeign([promptMessage('p1', log.now, 'UTC')])
      .answer()
      .endStep()
      .endTurn();
    expect((await verifyEvents(HEADER, log.events)).problems).toMatchObject([
      { seq: 1, rule: 'reading-missing' },
    ]);
    expect((await verifyEvents({ ...HEADER, driver: 'foreign' }, log.events)).problems).toEqual([]);
  });

  test('of a fork is its parent’s up to the seed', async () => {
    const log = new LogBuilder();
    log.shortTurn([promptMessage('p1', log.now, 'UTC')]);
    const seedLength = log.events.length;
    log.append('session/end-seed', {});
    log.wait(86_400_000).shortTurn([promptMessage('p2', log.now + 86_400_000, 'Asia/Tokyo')]);
    expect(
      (await verifyEvents({ ...HEADER, parentSession: 'parent', seedLength }, log.events, { closed: true }))
        .problems,
    ).toEqual([]);
    const beyond = await verifyEvents({ ...HEADER, seedLength: 1000 }, log.events);
    expect(beyond.problems).toMatchObject([{ seq: null, rule: 'header' }]);
  });

  test('scheduled: a reminder turn without a zone of the user shows that of the reminder', async () => {
    const log = new LogBuilder();
    log.startTurn();
    log.enter([], { reminderZone: 'Europe/Madrid' });
    log.answer().endStep().endTurn();
    expect(readings(log.events)[0]!.data.reading!.zone).toEqual({
      status: 'scheduled',
      name: 'Europe/Madrid',
      names: [],
      display: 'Europe/Madrid',
    });
    expect((await verifyEvents(HEADER, log.events)).problems).toEqual([]);
  });
});

describe('P04: names are compared as alias classes, offsets with instants, without tz data', () => {
  test('a log with yesterday’s name of a zone passes', async () => {
    const text = JSON.stringify(SAMPLE).replaceAll('Asia/Kolkata', 'Asia/Calcutta');
    expect((await verifyEvents(HEADER, JSON.parse(text))).problems).toEqual([]);
  });

  test('an offset that today’s rules do not have passes, if instant and local time agree with it', async () => {
    const events = copy(SAMPLE);
    say(readings(events)[0]!, (text) => text.replace('T06:31:01+05:30', 'T07:01:01+06:00'));
    expect((await verifyEvents(HEADER, events)).problems).toEqual([]);
  });
});

/** Changes what a reading says, in all the places where it says it. */
function say(event: LogEvent<string, UserMessage>, change: (text: string) => string): void {
  const text = change(event.data.content[0]!.text);
  event.data.content[0]!.text = text;
  (event.data.source as PluginSource).sections![0]!.text = text;
}

type Mutation = [
  name: string,
  rule: Rule,
  change: (events: LogEvent[]) => LogEvent | { seq: number | null } | undefined,
];

const of = <T extends keyof EventData>(events: LogEvent[], type: T, nth = 0) =>
  events.filter((event) => event.type === type).at(nth) as LogEvent<T, EventData[T]>;
const reading = (events: LogEvent[], nth = 0) => readings(events).at(nth)!;
const facts = (events: LogEvent[], nth = 0) => reading(events, nth).data.reading!;
const remove = (events: LogEvent[], event: LogEvent) => void events.splice(events.indexOf(event), 1);
const move = (events: LogEvent[], event: LogEvent, before: LogEvent) => {
  remove(events, event);
  events.splice(events.indexOf(before), 0, event);
};

/** Each returns the event that the problem must name, after the change; all events are renumbered, unless it returns nothing. */
const MUTATIONS: Mutation[] = [
  // The envelope and the surface.
  [
    'a missing event',
    'envelope',
    (e) => {
      remove(e, of(e, 'step/end'));
      return undefined;
    },
  ],
  ['a time that is no whole number', 'envelope', (e) => Object.assign(of(e, 'turn/end'), { time: 1.5 })],
  ['a time that is text', 'envelope', (e) => Object.assign(of(e, 'turn/end'), { time: '2026' })],
  ['an event without data', 'envelope', (e) => Object.assign(of(e, 'session/end-seed'), { data: undefined })],
  [
    'a message off the surface',
    'surface',
    (e) => Object.assign(of(e, 'assistant/message'), { surfaceOp: undefined }),
  ],
  [
    'a log-only event on the surface',
    'surface',
    (e) => Object.assign(of(e, 'turn/end'), { surfaceOp: 'append' }),
  ],
  [
    'a replacement of what is no message',
    'surface',
    (e) => Object.assign(of(e, 'tool/result', 4), { surfaceOp: { op: 'replace', start: 0, end: 0 } }),
  ],
  [
    'a replacement of a shadowed node',
    'surface',
    (e) => {
      const shadowed = of(e, 'tool/result').seq;
      return Object.assign(of(e, 'assistant/message', 5), {
        surfaceOp: { op: 'replace', start: shadowed, end: shadowed },
      });
    },
  ],
  [
    'a span from back to front',
    'surface',
    (e) => {
      const summary = e.find(
        (event) =>
          (event.data as UserMessage).source?.kind === 'plugin' && typeof event.surfaceOp === 'object',
      )!;
      const { start, end } = summary.surfaceOp as { start: number; end: number };
      return Object.assign(summary, { surfaceOp: { op: 'replace', start: end, end: start } });
    },
  ],
  [
    'a source event that is later',
    'surface',
    (e) => Object.assign(of(e, 'assistant/message'), { sourceEventSeqs: [1000] }),
  ],
  // Turns and steps.
  [
    'a turn number left out',
    'structure',
    (e) => {
      const start = of(e, 'turn/start', -1);
      start.data.turn = 9;
      return start;
    },
  ],
  [
    'a step number left out',
    'structure',
    (e) => {
      const start = of(e, 'step/start', 1);
      start.data.step = 3;
      return start;
    },
  ],
  [
    'a turn inside a turn',
    'structure',
    (e) => {
      remove(e, of(e, 'turn/end'));
      return of(e, 'turn/start', 1);
    },
  ],
  [
    'a turn that ends in an open step',
    'structure',
    (e) => {
      remove(e, of(e, 'step/end', 2));
      return of(e, 'turn/end');
    },
  ],
  [
    'a message outside a step',
    'structure',
    (e) => {
      const message = of(e, 'assistant/message', 2);
      move(e, message, of(e, 'turn/end'));
      return message;
    },
  ],
  [
    'two assistant messages in a step',
    'structure',
    (e) => {
      const again = structuredClone(of(e, 'assistant/message', 2));
      e.splice(e.indexOf(of(e, 'step/end', 2)), 0, Object.assign(again, { seq: 100_000 }));
      return again;
    },
  ],
  [
    'a prompt outside a step',
    'structure',
    (e) => {
      const prompt = e.find(({ data }) => (data as UserMessage).prompt)!;
      move(e, prompt, of(e, 'step/start'));
      return prompt;
    },
  ],
  [
    'a prompt after the answer of its step',
    'structure',
    (e) => {
      const prompt = e.find(({ data }) => (data as UserMessage).prompt)!;
      move(e, prompt, of(e, 'step/end'));
      return prompt;
    },
  ],
  ['a shape that is none', 'data', (e) => Object.assign(of(e, 'step/end'), { data: { turn: 'one' } })],
  // Calls.
  [
    'a result without a call',
    'calls',
    (e) => {
      const result = of(e, 'tool/result');
      result.data.message.content[0].toolCallId = 'c7';
      return result;
    },
  ],
  [
    'a call answered twice',
    'calls',
    (e) => {
      const again = structuredClone(of(e, 'tool/result', 1));
      e.splice(e.indexOf(of(e, 'step/end')), 0, Object.assign(again, { seq: 100_000 }));
      return again;
    },
  ],
  [
    'a call that nobody asked for',
    'calls',
    (e) => {
      const call = of(e, 'tool/call');
      call.data.callId = 'c7';
      return call;
    },
  ],
  [
    'a call without a result',
    'calls',
    (e) => {
      remove(e, of(e, 'tool/result', 2));
      return of(e, 'step/end', 1);
    },
  ],
  // Prompts.
  [
    'a prompt twice',
    'prompt',
    (e) => {
      const prompts = e.filter(({ data }) => (data as UserMessage).prompt);
      (prompts[1]!.data as UserMessage).source = (prompts[0]!.data as UserMessage).source;
      return prompts[1]!;
    },
  ],
  [
    'a prompt consumed and entered',
    'prompt',
    (e) => {
      const consumed = of(e, 'prompt/consumed');
      consumed.data.promptId = 'p1';
      return consumed;
    },
  ],
  [
    'a prompt without its id',
    'prompt',
    (e) => {
      const prompt = e.find(({ data }) => (data as UserMessage).prompt)!;
      (prompt.data as UserMessage).source = { kind: 'user' };
      return prompt;
    },
  ],
  [
    'a zone that is not the one that was given',
    'prompt',
    (e) => {
      const prompt = e.find(({ data }) => (data as UserMessage).prompt?.givenTimeZone)!;
      Object.assign((prompt.data as UserMessage).source, { clientTimeZone: 'Asia/Tokyo' });
      return prompt;
    },
  ],
  // The place of a reading.
  [
    'a reading removed',
    'reading-missing',
    (e) => {
      remove(e, reading(e, 2));
      return of(e, 'step/start', 2);
    },
  ],
  [
    'a reading twice',
    'reading-twice',
    (e) => {
      const again = structuredClone(reading(e, 2));
      e.splice(e.indexOf(reading(e, 2)) + 1, 0, Object.assign(again, { seq: 100_000 }));
      return again;
    },
  ],
  [
    'a reading before the last message of its batch',
    'reading-place',
    (e) => {
      const prompt = e.find(({ data }) => (data as UserMessage).prompt)!;
      move(e, reading(e), prompt);
      return prompt;
    },
  ],
  [
    'a reading after the request record',
    'reading-place',
    (e) => {
      move(e, of(e, 'request/header'), reading(e));
      return reading(e);
    },
  ],
  [
    'a reading after the answer',
    'reading-place',
    (e) => {
      const late = reading(e, 3);
      move(e, late, of(e, 'step/end', 3));
      return late;
    },
  ],
  [
    'a reading outside a step',
    'reading-place',
    (e) => {
      const early = reading(e, 3);
      move(e, early, of(e, 'step/start', 3));
      return early;
    },
  ],
  [
    'a reading of another step',
    'reading-place',
    (e) => {
      facts(e, 1).step = 3;
      say(reading(e, 1), (text) => text.replace('step 2:', 'step 3:'));
      return reading(e, 1);
    },
  ],
  [
    'a reading of another turn',
    'reading-place',
    (e) => {
      facts(e, 3).turn = 7;
      say(reading(e, 3), (text) => text.replace('turn 2,', 'turn 7,'));
      return reading(e, 3);
    },
  ],
  // The shape of a reading.
  [
    'a source with more in it',
    'reading-shape',
    (e) => {
      Object.assign(reading(e).data.source, { zone: 'UTC' });
      return reading(e);
    },
  ],
  [
    'a section with another text',
    'reading-shape',
    (e) => {
      (reading(e).data.source as PluginSource).sections![0]!.text += ' ';
      return reading(e);
    },
  ],
  [
    'a source without its form',
    'reading-shape',
    (e) => {
      delete (reading(e).data.source as PluginSource).form;
      return reading(e);
    },
  ],
  [
    'two text blocks',
    'reading-shape',
    (e) => {
      reading(e).data.content.push({ type: 'text', text: 'more' });
      return reading(e);
    },
  ],
  [
    'no data',
    'reading-data',
    (e) => {
      delete reading(e).data.reading;
      return e.find((event) => event.type === 'user/message' && (event.data as UserMessage).id === 'r-1-1');
    },
  ],
  [
    'data without the version of the tz data',
    'reading-data',
    (e) => {
      facts(e).tzdata = '';
      return reading(e);
    },
  ],
  // Text against data, and against itself.
  [
    'a line more',
    'reading-text',
    (e) => {
      say(reading(e, 2), (text) => `${text}\nOne more.`);
      return reading(e, 2);
    },
  ],
  [
    'a newline at the end',
    'reading-text',
    (e) => {
      say(reading(e, 2), (text) => `${text}\n`);
      return reading(e, 2);
    },
  ],
  [
    'no fourth line',
    'reading-text',
    (e) => {
      say(reading(e), (text) => text.split('\n').slice(0, 3).join('\n'));
      return reading(e);
    },
  ],
  [
    'a fourth line where the prompt did not wait',
    'reading-text',
    (e) => {
      say(reading(e, 1), (text) => `${text}\nThe latest prompt was accepted 3s before this reading.`);
      return reading(e, 1);
    },
  ],
  [
    'the words of another product',
    'reading-text',
    (e) => {
      say(reading(e, 3), (text) =>
        text.replace(
          /\n.+\n/,
          '\nBrowser time zone for this request: unavailable. Ask the user to clarify otherwise-unqualified dates and times.\n',
        ),
      );
      return reading(e, 3);
    },
  ],
  [
    'the wrong weekday',
    'reading-text',
    (e) => {
      say(reading(e), (text) => text.replace('Wednesday', 'Thursday'));
      return reading(e);
    },
  ],
  [
    'an elapsed that is not the data’s',
    'reading-text',
    (e) => {
      say(reading(e, 3), (text) => text.replace('1h 0s.', '2h 0s.'));
      return reading(e, 3);
    },
  ],
  [
    'minutes that stand although they are zero',
    'reading-text',
    (e) => {
      say(reading(e, 3), (text) => text.replace('1h 0s.', '1h 0m 0s.'));
      return reading(e, 3);
    },
  ],
  [
    'a clock in another zone than the data’s',
    'reading-text',
    (e) => {
      say(reading(e), (text) => text.replace('T06:31:01+05:30[Asia/Kolkata]', 'T10:01:01+09:00[Asia/Tokyo]'));
      return reading(e);
    },
  ],
  // Time.
  [
    'an offset that does not fit the instant',
    'reading-time',
    (e) => {
      say(reading(e), (text) => text.replace('+05:30', '+05:00'));
      return reading(e);
    },
  ],
  [
    'a local time that does not fit the instant',
    'reading-time',
    (e) => {
      say(reading(e), (text) => text.replace('T06:31:01', 'T06:31:02'));
      return reading(e);
    },
  ],
  [
    'UTC with an offset',
    'reading-time',
    (e) => {
      say(reading(e, 4), (text) => text.replace('T02:02:08+00:00', 'T03:02:08+01:00'));
      return reading(e, 4);
    },
  ],
  [
    'Z for the offset of UTC',
    'reading-text',
    (e) => {
      say(reading(e, 4), (text) => text.replace('+00:00', 'Z'));
      return reading(e, 4);
    },
  ],
  [
    'an event before its reading',
    'reading-time',
    (e) => {
      reading(e).time -= 2_000;
      return reading(e);
    },
  ],
  // Zones.
  [
    'a zone that nobody sent',
    'reading-zone',
    (e) => {
      Object.assign(facts(e, 3).zone, {
        status: 'resolved',
        name: 'Europe/Berlin',
        names: ['Europe/Berlin'],
      });
      say(reading(e, 3), (text) => text.replace('zone set for this user', 'zone of this request'));
      return reading(e, 3);
    },
  ],
  [
    'a zone of the turn left out',
    'reading-zone',
    (e) => {
      Object.assign(facts(e, 2).zone, {
        status: 'resolved',
        name: 'America/New_York',
        names: ['America/New_York'],
      });
      say(reading(e, 2), (text) =>
        text.replace(/ mixed.+\n/, ' America/New_York; read dates and times that name no zone in it.\n'),
      );
      return reading(e, 2);
    },
  ],
  [
    'a prompt’s zone changed afterwards',
    'reading-zone',
    (e) => {
      const prompt = e.find(
        ({ data }) =>
          (data as UserMessage).prompt &&
          (data as UserMessage).source &&
          JSON.stringify(data).includes('America/New_York'),
      )!;
      Object.assign((prompt.data as UserMessage).source, { clientTimeZone: 'America/Chicago' });
      return reading(e, 2);
    },
  ],
  [
    'aliases of one zone called mixed',
    'reading-zone',
    (e) => {
      Object.assign(facts(e, 1).zone, {
        status: 'mixed',
        name: null,
        names: ['Asia/Calcutta', 'Asia/Kolkata'],
      });
      say(reading(e, 1), (text) =>
        text.replace(
          /Time zone of.+\n/,
          'Time zone of this request: mixed (Asia/Calcutta, Asia/Kolkata); ask which is meant before using a date or time that names no zone.\n',
        ),
      );
      return reading(e, 1);
    },
  ],
  [
    'names that are not sorted',
    'reading-zone',
    (e) => {
      facts(e, 2).zone.names.reverse();
      say(reading(e, 2), (text) =>
        text.replace('America/New_York, Asia/Kolkata', 'Asia/Kolkata, America/New_York'),
      );
      return reading(e, 2);
    },
  ],
  [
    'a clock that is not shown in the resolved zone',
    'reading-zone',
    (e) => {
      facts(e).zone.display = 'UTC';
      say(reading(e), (text) => text.replace('T06:31:01+05:30[Asia/Kolkata]', 'T01:01:01+00:00[UTC]'));
      return reading(e);
    },
  ],
  [
    'an unknown zone that is none of the turn’s',
    'reading-zone',
    (e) => {
      facts(e).unknownZones = ['Mars/Base'];
      return reading(e);
    },
  ],
  // Elapsed.
  [
    'another baseline',
    'reading-elapsed',
    (e) => {
      facts(e, 3).elapsed.seq! -= 1;
      return reading(e, 3);
    },
  ],
  [
    'elapsed from nothing, where there is a baseline',
    'reading-elapsed',
    (e) => {
      Object.assign(facts(e, 3).elapsed, { seq: null, ms: null });
      say(reading(e, 3), (text) => text.replace('1h 0s.', 'unavailable.'));
      return reading(e, 3);
    },
  ],
  [
    'another length',
    'reading-elapsed',
    (e) => {
      facts(e, 3).elapsed.ms! += 1;
      return reading(e, 3);
    },
  ],
  [
    'a baseline whose time was changed afterwards',
    'reading-elapsed',
    (e) => {
      of(e, 'assistant/message', 2).time -= 1_000;
      return reading(e, 3);
    },
  ],
  [
    'a clock that went back, not said',
    'reading-elapsed',
    (e) => {
      delete facts(e, 4).clockWentBack;
      return reading(e, 4);
    },
  ],
  [
    'a clock that did not go back',
    'reading-elapsed',
    (e) => {
      facts(e, 3).clockWentBack = true;
      return reading(e, 3);
    },
  ],
  [
    'another age of the prompt',
    'reading-elapsed',
    (e) => {
      facts(e).promptAgeMs! -= 1;
      return reading(e);
    },
  ],
  // Refresh decisions.
  [
    'not due, but no reading came before',
    'refresh',
    (e) => {
      const start = of(e, 'step/start');
      start.data.refresh = { intervalMs: 1, due: false, at: start.time };
      remove(e, reading(e));
      return start;
    },
  ],
  [
    'due, but the interval is not over',
    'refresh',
    (e) => {
      const start = of(e, 'step/start', 6);
      start.data.refresh!.due = true;
      return start;
    },
  ],
  [
    'not due, but the zones changed',
    'refresh',
    (e) => {
      const start = of(e, 'step/start', 7);
      start.data.refresh!.due = false;
      remove(e, reading(e, 6));
      return start;
    },
  ],
  [
    'not due, but the latest reading is shadowed',
    'refresh',
    (e) => {
      const start = of(e, 'step/start', 5);
      start.data.refresh!.due = false;
      remove(e, reading(e, 5));
      return start;
    },
  ],
  [
    'not due, and yet a reading',
    'refresh',
    (e) => {
      of(e, 'step/start', 8).data.refresh!.due = false;
      return reading(e, -1);
    },
  ],
  [
    'decided at another instant',
    'refresh',
    (e) => {
      of(e, 'step/start', 8).data.refresh!.at += 1;
      return reading(e, -1);
    },
  ],
  [
    'a decision under no interval',
    'refresh',
    (e) => {
      const start = of(e, 'step/start', 8);
      start.data.refresh!.intervalMs = 0;
      return start;
    },
  ],
  [
    'due and no reading',
    'reading-missing',
    (e) => {
      remove(e, reading(e, -1));
      return of(e, 'step/start', -1);
    },
  ],
];

describe('each change of a good log is found, and the event is named', () => {
  test.each(MUTATIONS)('%s: %s', async (_, rule, change) => {
    const events = copy(SAMPLE);
    const named = change(events);
    if (named !== undefined) renumber(events);
    const { problems } = await verifyEvents(HEADER, events, { closed: true });
    expect(problems.map(problemText)).not.toEqual([]);
    const expected = named === undefined ? { rule } : { seq: named.seq, rule };
    expect(problems).toContainEqual(expect.objectContaining(expected));
    for (const problem of problems)
      expect(problemText(problem)).toMatch(/^(event \d+|log): [a-z-]+: expected .+; found .+$/s);
  });

  test('a header of another version', async () => {
    for (const header of [
      { ...HEADER, version: 4 },
      { ...HEADER, type: 'log' },
      { ...HEADER, id: '' },
      { ...HEADER, createdAt: 'today' },
      null,
    ]) {
      const { problems } = await verifyEvents(header as typeof HEADER, SAMPLE);
      expect(problems).toMatchObject([{ seq: null, rule: 'header' }]);
    }
  });

  test('a log that is no log ends in problems, not in an exception', async () => {
    const rubbish = [
      null,
      7,
      [],
      {},
      { seq: 0 },
      ...Object.keys({ a: 0 }),
      ...[
        'user/message',
        'step/start',
        'turn/start',
        'tool/result',
        'assistant/message',
        'prompt/consumed',
        'tool/call',
      ].flatMap((type) =>
        [null, 7, {}, { turn: 1, step: 1, source: null, content: null, message: null }].map((data, i) => ({
          seq: i,
          type,
          time: 0,
          data,
          surfaceOp: { op: 'replace' },
        })),
      ),
    ];
    const { problems } = await verifyEvents(HEADER, rubbish as LogEvent[]);
    expect(problems.length).toBeGreaterThan(rubbish.length - 1);
  });

  test('no report outgrows the memory', async () => {
    const events = Array.from({ length: MAX_PROBLEMS + 10 }, (_, seq) => ({
      seq,
      type: 'step/end',
      time: 0,
      data: { turn: 1, step: 1 },
    }));
    const { problems, notes } = await verifyEvents(HEADER, events);
    expect(problems).toHaveLength(MAX_PROBLEMS);
    expect(notes).toEqual([`${MAX_PROBLEMS + 10} problems; the first ${MAX_PROBLEMS} are listed`]);
  });
});

describe('zones that a runtime does not know', () => {
  test('are left out, said as data, and noted', async () => {
    const log = new LogBuilder();
    log.shortTurn([promptMessage('p1', log.now, 'Mars/Base'), promptMessage('p2', log.now, 'Asia/Tokyo')]);
    expect(readings(log.events)[0]!.data.reading).toMatchObject({
      zone: { status: 'resolved', name: 'Asia/Tokyo' },
      unknownZones: ['Mars/Base'],
    });
    const { problems, notes } = await verifyEvents(HEADER, log.events);
    expect(problems).toEqual([]);
    expect(notes).toEqual(['1 reading with a zone that the writing runtime did not know']);
  });

  test('a name that the table holds is not left out without saying so', async () => {
    const log = new LogBuilder({ settings: settingsOf() });
    log.shortTurn([promptMessage('p1', log.now, 'Mars/Base')]);
    const text = JSON.stringify(log.events)
      .replaceAll('"clientTimeZone":"Mars/Base"', '"clientTimeZone":"Asia/Tokyo"')
      .replace(',"unknownZones":["Mars/Base"]', '');
    expect((await verifyEvents(HEADER, JSON.parse(text))).problems).toMatchObject([
      { seq: 3, rule: 'reading-zone' },
    ]);
  });
});
