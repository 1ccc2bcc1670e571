import type { LogEvent, UserMessage } from '../../src/contract.ts';
import { LogBuilder, plainMessage, promptMessage, settingsOf } from '../reading/log-builder.ts';

/**
 * A log with one of everything: tools, steering from another zone, aliases of one zone, a configured zone, a prompt that
 * waited, a clock that went back, pruning, compaction, a cancelled turn, an interval with decisions either way.
 * Where its events stand is not written down: tests find them by what they are.
 */
export function sampleLog(): LogEvent[] {
  const log = new LogBuilder({ settings: settingsOf({ userTimeZone: 'Europe/Berlin' }) });
  log.startTurn();
  log.enter([
    promptMessage('p1', log.now - 90_000, 'Asia/Calcutta', { givenTimeZone: 'Asia/Calcutta' }),
    plainMessage('note', { kind: 'plugin' }),
  ]);
  log
    .request()
    .wait(4_000)
    .answer('c1', 'c2')
    .call('c1')
    .wait(65_000)
    .result('c1')
    .call('c2')
    .result('c2')
    .endStep();
  log.enter([promptMessage('p2', log.now - 10, 'Asia/Kolkata')], { clockSkewMs: 7 });
  log.wait(2_000).answer('c1').call('c1').result('c1').endStep();
  log.enter([promptMessage('p3', log.now, 'America/New_York')]);
  log.wait(500).answer().endStep().endTurn();

  log.wait(3_600_000).startTurn();
  log.enter([promptMessage('p4', log.now)]);
  log.wait(1_000).answer('c9').result('c9').endStep().endTurn({ kind: 'aborted', cause: 'user' });
  const results = log.events.filter(({ type }) => type === 'tool/result');
  log.result('c1', { op: 'replace', start: results[0]!.seq, end: results[0]!.seq });
  log.append('prompt/consumed', { promptId: 'p5', by: 'policy', outcome: 'dropped' });

  log.wait(-5_000).startTurn();
  log.enter([promptMessage('p6', log.now - 30, 'UTC')]);
  log.wait(1_000).answer().endStep().endTurn();
  log.compact(
    log.events.find(({ type }) => type === 'user/message')!.seq,
    log.events.findLast(({ type }) => type === 'assistant/message')!.seq,
  );
  log.append('session/end-seed', {});

  // A worker with other settings carries on.
  const interval = new LogBuilder({
    settings: settingsOf({ refreshIntervalMs: 60_000, refreshOn: ['zone-change', 'compaction'] }),
    after: log,
  });
  interval.startTurn();
  interval.enter([promptMessage('p7', interval.now, 'UTC')]);
  interval.wait(100).answer('a').call('a').result('a').endStep();
  interval.enter();
  interval.wait(100).answer('b').call('b').result('b').endStep();
  interval.enter([promptMessage('p8', interval.now, 'Asia/Tokyo')]);
  interval.wait(100).answer('c').call('c').result('c').endStep();
  interval.wait(60_000).enter();
  interval.wait(100).answer().endStep().endTurn();
  return interval.events;
}

/** A copy to change. */
export function copy(events: LogEvent[]): LogEvent[] {
  return structuredClone(events);
}

/** Readings of a log, in order. */
export function readings(events: LogEvent[]): LogEvent<string, UserMessage>[] {
  return events.filter(({ data }) => (data as UserMessage).reading !== undefined) as LogEvent<
    string,
    UserMessage
  >[];
}

/** Gives the events that stand the numbers of their places, and moves references to later events with them. */
export function renumber(events: LogEvent[]): LogEvent[] {
  const places = new Map(events.map((event, seq) => [event.seq, seq]));
  const moved = (seq: number) => places.get(seq) ?? seq;
  for (const [seq, event] of events.entries()) {
    event.seq = seq;
    const { surfaceOp, data } = event;
    if (typeof surfaceOp === 'object')
      event.surfaceOp = { ...surfaceOp, start: moved(surfaceOp.start), end: moved(surfaceOp.end) };
    const { reading } = (data ?? {}) as UserMessage;
    if (reading && reading.elapsed.seq !== null) reading.elapsed.seq = moved(reading.elapsed.seq);
  }
  return events;
}
