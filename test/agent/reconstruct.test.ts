/** Requests built again from the log, against the bytes that the endpoint received. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EventData, LogEvent } from '../../src/contract.ts';
import { callModel } from '../../src/model/call.ts';
import { exportSession, importSession } from '../../src/session/exchange.ts';
import { canonicalJson, reconstructRequest } from '../../src/session/reconstruct.ts';
import { demoTools } from '../../src/tools/index.ts';
import { Harness } from './harness.ts';
import { type ScriptedAnswer, type ScriptedModel, startScriptedModel } from './scripted-model.ts';

let agent: Harness;
/** Receives what is built again. */
let second: ScriptedModel;

beforeAll(async () => {
  agent = await Harness.start({ tools: demoTools });
  second = await startScriptedModel(() => ({ text: 'ok' }));
});
afterAll(async () => {
  await second.close();
  await agent.close();
});

const convert = { name: 'convert_units', arguments: '{"value":10,"from":"km","to":"miles"}' };
const broken = { name: 'convert_units', arguments: 'not json' };

/** Sends what the log says of a step, and returns the body as it came over the wire. */
async function bodyOf(events: LogEvent[], at: { turn: number; step: number }): Promise<string> {
  const request = await reconstructRequest(events, at);
  const before = second.bodies.length;
  const settings = { baseURL: second.baseURL, model: 'not used', provider: 'scripted' };
  await callModel(request, settings, AbortSignal.timeout(10_000));
  expect(second.bodies.length).toBe(before + 1);
  return second.bodies[before]!;
}

const stepsOf = (events: readonly LogEvent[]) =>
  events
    .filter(({ type }) => type === 'step/start')
    .map(({ data }) => {
      const { turn, step } = data as EventData['step/start'];
      return { turn, step };
    });

const headersOf = (events: readonly LogEvent[]) =>
  events
    .filter(({ type }) => type === 'request/header')
    .map(({ data }) => (data as EventData['request/header']).reason);

const received = () => agent.model.bodies.length;

async function until(done: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await done())) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** One answer after the other; a function is asked for its answer when its turn comes. */
function answers(...given: (ScriptedAnswer | (() => Promise<ScriptedAnswer>))[]): void {
  agent.model.script = () => {
    const next = given.shift()!;
    return typeof next === 'function' ? next() : next;
  };
}

describe('a session with tools, steering, a zone change, a retry, a lost run and an import', () => {
  it('is built again byte by byte', async () => {
    // Two calls at once, one that fails; a prompt that steers the turn; a model that fails once.
    answers(
      { calls: [convert, broken] },
      async () => {
        await agent.send('long', 'and steer: ünïcödé 🕰️ \ud83d', { timeZone: 'America/New_York' });
        return { calls: [convert] };
      },
      { status: 503 },
      { text: 'first answer' },
    );
    await agent.ask('long', 'convert, please', { timeZone: 'Asia/Tokyo' });
    expect(received()).toBe(4);

    // The run is lost while the model is silent: its request was sent, and has no answer.
    answers('hang', { text: 'after the loss' });
    await agent.run('long').result();
    await agent.send('long', 'this one is lost', { timeZone: 'Europe/Berlin' });
    await until(() => received() === 5);
    await agent.run('long').terminate();
    await agent.ask('long', 'hello again', { timeZone: 'Europe/Berlin' });
    await agent.run('long').result();

    const parent = await agent.events('long');
    const sent = agent.model.bodies.slice();
    const steps = stepsOf(parent);
    expect(steps).toEqual([
      { turn: 1, step: 1 },
      { turn: 1, step: 2 },
      { turn: 1, step: 3 },
      { turn: 2, step: 1 },
      { turn: 3, step: 1 },
    ]);
    // The third step was tried twice, with the same bytes.
    expect(sent[3]).toBe(sent[2]);
    sent.splice(3, 1);
    for (const [index, at] of steps.entries()) expect(await bodyOf(parent, at)).toBe(sent[index]);
    expect(headersOf(parent)).toEqual(['initial']);

    // A copy goes on with its own requests, and has those of its original.
    const lines = await Array.fromAsync(exportSession(agent.log, agent.id('long')));
    await importSession(agent.log, [Buffer.from(lines.join(''))] as never, { as: agent.id('copy') });
    answers({ calls: [convert] }, { text: 'the copy says' });
    const from = received();
    await agent.ask('copy', 'and in the copy?');
    const copy = await agent.events('copy');
    const all = [...sent, ...agent.model.bodies.slice(from)];
    expect(all).toHaveLength(7);
    const places = stepsOf(copy);
    const canonical: string[] = [];
    for (const [index, at] of places.entries()) {
      expect(await bodyOf(copy, at)).toBe(all[index]);
      canonical.push(canonicalJson(await reconstructRequest(copy, at)));
    }
    for (const [index, at] of steps.entries()) {
      expect(canonicalJson(await reconstructRequest(parent, at))).toBe(canonical[index]);
    }
    // The same header needs no new record.
    expect(headersOf(copy)).toEqual(['initial']);

    // Each request's messages begin with all the bytes of the one before: on the wire, and as the log has them.
    const wire = all.map((body) => JSON.stringify(JSON.parse(body).messages));
    const logged = canonical.map((text) => JSON.stringify(JSON.parse(text).messages));
    for (const messages of [wire, logged]) {
      for (const [index, text] of messages.slice(1).entries()) {
        expect(text.startsWith(`${messages[index]!.slice(0, -1)},`)).toBe(true);
      }
    }
  });
});
