import { describe, expect, it } from 'vitest';
import type { LogEvent, SurfaceOp } from '../../src/contract.ts';
import { canonicalJson, reconstructRequest } from '../../src/session/reconstruct.ts';

type Part = [type: string, data: unknown, surfaceOp?: SurfaceOp];

const log = (...parts: Part[]): LogEvent[] =>
  parts.map(([type, data, surfaceOp], seq) => ({
    seq,
    type,
    time: 1_784_000_000_000 + seq,
    data,
    ...(surfaceOp ? { surfaceOp } : {}),
  }));
const turn = (n: number): Part => ['turn/start', { turn: n }];
const step = (n: number, s: number): Part => ['step/start', { turn: n, step: s }];
const stepEnd = (n: number, s: number): Part => ['step/end', { turn: n, step: s }];
const turnEnd = (n: number): Part => ['turn/end', { turn: n, reason: { kind: 'completed' } }];
const user = (text: string, op: SurfaceOp = 'append'): Part => [
  'user/message',
  { id: text, role: 'user', content: [{ type: 'text', text }], source: { kind: 'user' } },
  op,
];
const answer = (n: number, s: number, text: string): Part => [
  'assistant/message',
  {
    turn: n,
    step: s,
    message: { id: text, role: 'assistant', content: text === '' ? [] : [{ type: 'text', text }] },
  },
  'append',
];
const header = (model: string): Part => [
  'request/header',
  { header: { config: { provider: 'p', model } }, reason: 'change' },
];

const EVENTS = log(
  turn(1), // 0
  step(1, 1),
  user('a'), // 2
  header('one'),
  answer(1, 1, 'b'), // 4
  user('late'), // 5: after the answer, before the step's end
  stepEnd(1, 1),
  turnEnd(1),
  turn(2), // 8
  step(2, 1),
  user('summary', { op: 'replace', start: 2, end: 4 }), // 10
  user('c'), // 11
  header('two'),
  answer(2, 1, ''), // 13
  stepEnd(2, 1),
  step(2, 2), // 15
  user('summary of summary', { op: 'replace', start: 10, end: 5 }), // 16
  user('d'),
  turnEnd(2),
  user('between'), // 19
  turn(3),
  step(3, 1),
  user('e'),
);

const said = async (n: number, s: number, events = EVENTS) => {
  const { header: found, messages } = await reconstructRequest(events, { turn: n, step: s });
  return [found.config.model, ...messages.map(({ id }) => id)];
};

describe('the request of a step', () => {
  it('has the header and the surface as they stood when it was made', async () => {
    expect(await said(1, 1)).toEqual(['one', 'a']);
    expect(await said(2, 1)).toEqual(['two', 'summary', 'late', 'c']);
    expect(await said(2, 2)).toEqual(['two', 'summary of summary', 'c', 'd']);
    expect(await said(3, 1)).toEqual(['two', 'summary of summary', 'c', 'd', 'between', 'e']);
  });

  it('reads no further than to the answer', async () => {
    let read = 0;
    const counted = (function* () {
      for (const event of EVENTS) {
        read += 1;
        yield event;
      }
    })();
    await reconstructRequest(counted, { turn: 1, step: 1 });
    expect(read).toBe(5);
  });

  it('keeps the order of the keys that the log has', async () => {
    const events = log(turn(1), step(1, 1), [
      'request/header',
      { header: { config: { model: 'm', b: 1, a: 2 } } },
    ]);
    expect(canonicalJson(await reconstructRequest(events, { turn: 1, step: 1 }))).toBe(
      '{"header":{"config":{"model":"m","b":1,"a":2}},"messages":[]}',
    );
  });

  it.each<[string, number, number, LogEvent[], string, string]>([
    ['a turn', 9, 1, EVENTS, 'unknown-turn', 'the session has no turn 9; its last one is turn 3'],
    ['any turn', 1, 1, [], 'unknown-turn', 'the session has no turn 1; it has none yet'],
    ['a step', 2, 3, EVENTS, 'unknown-step', 'turn 2 has no step 3; its last one is step 2'],
    ['any step', 1, 1, log(turn(1), turnEnd(1)), 'unknown-step', 'turn 1 has no step 1; it entered none'],
    [
      'a header',
      1,
      1,
      log(turn(1), step(1, 1), user('a'), stepEnd(1, 1), header('late')),
      'no-request-header',
      'turn 1, step 1 has no request: no request/header is logged up to there',
    ],
    [
      'the span of a replacement',
      1,
      1,
      log(turn(1), step(1, 1), user('a', { op: 'replace', start: 7, end: 7 })),
      'bad-span',
      'event 2 replaces 7 to 7, which is not a span of the surface',
    ],
  ])('is refused where the log lacks %s', async (_, n, s, events, code, message) => {
    await expect(reconstructRequest(events, { turn: n, step: s })).rejects.toMatchObject({ code, message });
  });
});
