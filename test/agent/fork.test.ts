import { afterAll, beforeAll, expect, it } from 'vitest';
import { forkSession } from '../../src/client/fork.ts';
import type { EventData, LogEvent } from '../../src/contract.ts';
import { Harness, readingsIn } from './harness.ts';

let agent: Harness;

beforeAll(async () => {
  agent = await Harness.start({ refreshIntervalMs: 86_400_000 });
});
afterAll(() => agent.close());

const fork = (as: string, atTurn: number) =>
  forkSession(agent.log, { sessionId: agent.id('parent'), as: agent.id(as), atTurn });

const turnsOf = (events: readonly LogEvent[]) =>
  events
    .filter(({ type }) => type === 'turn/start')
    .map(({ data }) => (data as EventData['turn/start']).turn);

const headersOf = (events: readonly LogEvent[]) =>
  events
    .filter(({ type }) => type === 'request/header')
    .map(({ data }) => (data as EventData['request/header']).reason);

it('a fork goes on with the next turn, beside a parent whose turn is open', async () => {
  await agent.ask('parent', 'one', { promptId: 'p1' });
  await agent.ask('parent', 'two', { promptId: 'p2' });
  await agent.run('parent').result();
  agent.model.script = () => 'hang';
  await agent.send('parent', 'three', { promptId: 'p3' });
  while (agent.model.requests.length < 3) await new Promise((resolve) => setTimeout(resolve, 20));
  await agent.send('parent', 'waits', { promptId: 'p4' });
  const parent = await agent.events('parent');

  await expect(fork('other', 3)).rejects.toMatchObject({ code: 'turn-open' });
  await fork('other', 2);
  agent.model.script = () => ({ text: 'ok' });
  // A prompt id that waits in the parent is none of the child's.
  await agent.ask('other', 'three, otherwise', { promptId: 'p4' });
  await agent.run('other').result();
  const child = await agent.events('other');
  expect(turnsOf(child)).toEqual([1, 2, 3]);
  const users = agent.model.requests.at(-1)!.messages.filter(({ role }) => role === 'user');
  expect(users.map(({ content }) => content).filter((text) => !text!.startsWith('Time sampled'))).toEqual([
    'one',
    'two',
    'three, otherwise',
  ]);
  // The reading that it inherited is younger than the interval; the header that it inherited is still right.
  expect(readingsIn(child)).toHaveLength(1);
  expect(headersOf(child)).toEqual(['initial']);
  expect(await agent.events('parent')).toEqual(parent);

  await agent.run('parent').cancel();
  await agent.turnOf({ sessionId: agent.id('parent'), promptId: 'p4', runId: '' });
});

it('a fork whose worker has another header says so once, as a resume', async () => {
  await fork('changed', 1);
  const taskQueue = `${agent.taskQueue}-other`;
  await agent.startWorker({
    model: { baseURL: agent.model.baseURL, model: 'another', provider: 'scripted' },
    worker: { taskQueue },
  });
  await agent.ask('changed', 'two', { taskQueue });
  await agent.run('changed').result();
  await agent.ask('changed', 'three', { taskQueue });
  expect(headersOf(await agent.events('changed'))).toEqual(['initial', 'resume']);
});
