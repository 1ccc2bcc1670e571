import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { forkSession } from '../../src/client/fork.ts';
import type { LogEvent } from '../../src/contract.ts';
import { openDatabase } from '../../src/session/database.ts';
import { importSession } from '../../src/session/exchange.ts';
import { SessionLog } from '../../src/session/session-log.ts';
import { verifyEvents } from '../../src/verify/verify.ts';
import { HEADER } from '../reading/log-builder.ts';
import { sampleLog } from '../verify/sample-log.ts';

let folder: string;
let log: SessionLog;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'time-context-fork-'));
  log = new SessionLog(await openDatabase(`file:${join(folder, 'sessions.db')}`));
});
afterEach(async () => {
  await log.close();
  await rm(folder, { recursive: true, force: true });
});

async function put(id: string, events: readonly LogEvent[]): Promise<void> {
  const lines = [{ ...HEADER, id }, ...events].map((line) => `${JSON.stringify(line)}\n`);
  await importSession(log, [Buffer.from(lines.join(''))] as never);
}

const eventsOf = (id: string) => Array.fromAsync(log.events(id));
const endOf = (turn: number) =>
  sampleLog().findIndex(({ type, data }) => type === 'turn/end' && (data as { turn: number }).turn === turn);

/** All that the log looks up of a session: what its next turn is decided from. */
const lookedUp = (id: string) =>
  log.read(async (tx) => {
    const { header: _, ...state } = (await tx.session(id))!;
    return {
      state,
      surface: await tx.surface(id),
      baseline: await tx.latestBaseline(id),
      reading: await tx.latestReading(id),
      zones: await Promise.all([1, 2, 3, 4].map((turn) => tx.turnZones(id, turn))),
      prompts: await tx.knownPrompts(id, ['p1', 'p2', 'p3', 'p4', 'p5']),
      keys: await Promise.all(['k1', 'k2', 'k3', 'k4'].map((key) => tx.turnOfKey(id, key))),
    };
  });

it.each([1, 2, 3, 4])('a fork at turn %i has the look-ups of its prefix, and verifies', async (turn) => {
  const sample = sampleLog();
  await put('demo', sample);
  const parent = [await log.header('demo'), await eventsOf('demo'), await lookedUp('demo')];
  const length = endOf(turn) + 1;
  await expect(forkSession(log, { sessionId: 'demo', as: 'fork', atTurn: turn })).resolves.toEqual({
    sessionId: 'fork',
    parentSession: 'demo',
    turn,
    events: length,
  });
  const events = await eventsOf('fork');
  expect(events.slice(0, -1)).toEqual(sample.slice(0, length));
  expect(events.at(-1)).toMatchObject({ seq: length, type: 'session/end-seed', data: {} });
  expect(await log.header('fork')).toMatchObject({ id: 'fork', parentSession: 'demo', seedLength: length });
  // An import folds the same prefix event by event.
  await put('prefix', sample.slice(0, length));
  expect(await lookedUp('fork')).toEqual(await lookedUp('prefix'));
  const { problems } = await verifyEvents(await log.header('fork'), log.events('fork'), { closed: true });
  expect(problems).toEqual([]);
  expect([await log.header('demo'), await eventsOf('demo'), await lookedUp('demo')]).toEqual(parent);
});

it('a fork of a fork names its own parent, and the last turn that ended is the default', async () => {
  const sample = sampleLog();
  // Turn 3 stands open.
  await put('open', sample.slice(0, endOf(3)));
  expect(await forkSession(log, { sessionId: 'open', as: 'one' })).toMatchObject({ turn: 2 });
  expect(await forkSession(log, { sessionId: 'one', as: 'two' })).toMatchObject({
    turn: 2,
    parentSession: 'one',
  });
  expect(await log.header('two')).toMatchObject({ parentSession: 'one', seedLength: endOf(2) + 1 });
});

it('what cannot be is refused, and leaves nothing behind', async () => {
  const sample = sampleLog();
  await put('open', sample.slice(0, endOf(3)));
  await put('first', sample.slice(0, endOf(1)));
  const refused = (sessionId: string, as: string, atTurn?: number) =>
    expect(forkSession(log, { sessionId, as, ...(atTurn ? { atTurn } : {}) })).rejects;
  await refused('open', 'x', 3).toMatchObject({
    code: 'turn-open',
    message: 'turn 3 is open; fork when it has ended, or fork at turn 2',
  });
  await refused('open', 'x', 4).toMatchObject({
    code: 'unknown-turn',
    message: 'the session has no turn 4 that ended; its last one is turn 2',
  });
  await refused('first', 'x').toMatchObject({ code: 'no-closed-turn' });
  await refused('nobody', 'x').toMatchObject({ code: 'unknown-session' });
  await refused('open', 'open', 1).toMatchObject({ code: 'session-exists' });
  await refused('open', 'a/b', 1).toMatchObject({ code: 'invalid-session-id' });
  expect((await log.sessions()).map(({ sessionId }) => sessionId).sort()).toEqual(['first', 'open']);
});
