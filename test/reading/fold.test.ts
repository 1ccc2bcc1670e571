import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { LogEvent } from '../../src/contract.ts';
import { isBaselineMessage, isReading, promptZone } from '../../src/reading/classify.ts';
import type { EventPoint } from '../../src/reading/elapsed.ts';
import { verifyEvents } from '../../src/verify/verify.ts';
import { HEADER, LogBuilder, plainMessage, promptMessage, settingsOf } from './log-builder.ts';

/** What may happen next in a session. */
const steps = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('turn'),
        zone: fc.constantFrom(undefined, 'UTC', 'Asia/Calcutta', 'Asia/Kolkata', 'Mars/Base'),
        tools: fc.nat(2),
        wait: fc.integer({ min: -10_000, max: 100_000 }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('compact'), from: fc.nat(), to: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('prune'), from: fc.nat() }) },
  ),
  { maxLength: 15 },
);
const settings = fc.constantFrom(
  settingsOf(),
  settingsOf({ userTimeZone: 'Europe/Berlin', refreshIntervalMs: 50_000 }),
  settingsOf({ refreshIntervalMs: 150_000, refreshOn: ['compaction'] }),
  settingsOf({ refreshIntervalMs: 150_000, refreshOn: ['zone-change', 'compaction'] }),
);

/** The surface as it is, in full: nodes by their events' seq, in order. */
function surfaceOf(events: readonly LogEvent[]): number[] {
  const nodes: number[] = [];
  for (const { seq, surfaceOp } of events) {
    if (surfaceOp === 'append') nodes.push(seq);
    else if (surfaceOp)
      nodes.splice(
        nodes.indexOf(surfaceOp.start),
        nodes.indexOf(surfaceOp.end) - nodes.indexOf(surfaceOp.start) + 1,
        seq,
      );
  }
  return nodes;
}

function play(actions: typeof steps extends fc.Arbitrary<infer T> ? T : never, log: LogBuilder): void {
  let prompts = 0;
  for (const action of actions as {
    kind: string;
    zone?: string;
    tools: number;
    wait: number;
    from: number;
    to: number;
  }[]) {
    const nodes = surfaceOf(log.events);
    if (action.kind === 'turn') {
      log.wait(action.wait).startTurn();
      for (let tool = 0; tool <= action.tools; tool++) {
        log.enter(
          tool === action.tools || tool === 0 ? [promptMessage(`p${prompts++}`, log.now, action.zone)] : [],
        );
        log.wait(action.wait);
        if (tool < action.tools) log.answer('c').result('c').endStep();
      }
      log.answer().endStep().endTurn();
    } else if (nodes.length > 0) {
      const [a, b] = [action.from % nodes.length, (action.to ?? 0) % nodes.length].sort((x, y) => x - y) as [
        number,
        number,
      ];
      if (action.kind === 'compact') log.compact(nodes[a]!, nodes[b]!);
      else {
        const node = nodes[b]!;
        if (log.events[node]!.type === 'tool/result')
          log.result('c', { op: 'replace', start: node, end: node });
      }
    }
  }
}

describe('ReadingFold', () => {
  test('answers what a look at the whole log answers, and every log so made is verified', async () => {
    await fc.assert(
      fc.asyncProperty(steps, settings, async (actions, each) => {
        const log = new LogBuilder({ settings: each });
        play(actions, log);
        const { events, turn } = log;
        const start = events.findLastIndex(({ type }) => type === 'turn/start');
        const surface = new Set(surfaceOf(events));
        const point = (event: EventPoint | undefined) => event && { seq: event.seq, time: event.time };
        const latest = events.findLast(isReading);
        const facts = log.fold.facts(turn);
        expect(facts.baseline).toEqual(point(events.findLast(isBaselineMessage)));
        expect(
          facts.latestReading && {
            ...point(facts.latestReading),
            shadowed: facts.latestReading.shadowed,
          },
        ).toEqual(latest && { ...point(latest), shadowed: !surface.has(latest.seq) });
        if (turn > 0) {
          expect(facts.stepReading).toEqual(point(events.slice(start).findLast(isReading)));
          const zones = events
            .slice(start)
            .filter(({ type, surfaceOp }) => type === 'user/message' && surfaceOp === 'append');
          expect(new Set(facts.turnZones)).toEqual(
            new Set(zones.map(({ data }) => promptZone(data as never)).filter((zone) => zone !== undefined)),
          );
        }
        expect(log.fold.facts(turn + 1)).toMatchObject({ turnZones: [], stepReading: undefined });
        expect((await verifyEvents(HEADER, events, { closed: true })).problems).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  test('a copy of another turn’s prompt brings no zone', () => {
    const log = new LogBuilder();
    log.shortTurn([promptMessage('p1', log.now, 'Asia/Tokyo')]);
    log.startTurn();
    const { source } = promptMessage('p1', log.now, 'Asia/Tokyo');
    log.append('user/message', plainMessage('pruned', source), { op: 'replace', start: 2, end: 2 });
    expect(log.fold.facts(2).turnZones).toEqual([]);
  });
});
