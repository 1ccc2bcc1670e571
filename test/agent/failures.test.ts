import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { EventData, LogEvent, TurnEndReason } from '../../src/contract.ts';
import { TimeContextPlugin } from '../../src/plugin.ts';
import { demoTools } from '../../src/tools/index.ts';
import { defineTool } from '../../src/tools/tool.ts';
import { answerIn, Harness, readingsIn } from './harness.ts';
import type { ScriptedAnswer } from './scripted-model.ts';

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const endOf = (events: readonly LogEvent[]) => (events.at(-1)!.data as { reason: TurnEndReason }).reason;
const resultsIn = (events: readonly LogEvent[]) =>
  events.filter(({ type }) => type === 'tool/result').map(({ data }) => data as EventData['tool/result']);

/** How often each idempotency key took effect. */
const effects = new Map<string, number>();
const takeEffect = (name: string, work: (signal: AbortSignal) => Promise<string>) =>
  defineTool({
    name,
    description: 'For tests.',
    parameters: z.object({}),
    execute: async (_, { idempotencyKey, signal }) => {
      effects.set(idempotencyKey, (effects.get(idempotencyKey) ?? 0) + 1);
      return work(signal);
    },
  });
const tools = [
  ...demoTools,
  takeEffect('send_mail', async () => 'sent'),
  takeEffect('slow_mail', async () => {
    await sleep(400);
    return 'paid 5';
  }),
  takeEffect('throws', async () => {
    throw new Error('the tool broke');
  }),
  takeEffect('large', async () => 'x'.repeat(3 * 1024 * 1024)),
  takeEffect(
    'waits',
    (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  ),
  { ...takeEffect('deaf', () => new Promise(() => undefined)), timeoutMs: 300 },
];

let agent: Harness;
beforeAll(async () => {
  agent = await Harness.start({ tools, maxSteps: 6, model: { silenceMs: 1_000, retryForMs: 2_500 } });
});
afterAll(() => agent.close());

/** Lets the model answer these in order, the last one again and again. */
function answers(...list: ScriptedAnswer[]): void {
  agent.model.script = () => (list.length > 1 ? list.shift()! : list[0]!);
}
const call = (name: string): ScriptedAnswer => ({ calls: [{ name, arguments: '{}' }] });

describe('a model that fails for good', () => {
  it.each([400, 401, 403, 404, 422])(
    'ends the turn for %i with the provider’s message, without a second try',
    async (status) => {
      const before = agent.model.requests.length;
      answers({ status, body: JSON.stringify({ error: { message: 'the provider says no' } }) });
      const { events } = await agent.ask(`fatal-${status}`, 'hello');
      expect(endOf(events)).toEqual({
        kind: 'error',
        code: `http-${status}`,
        message: `the model answered ${status}: the provider says no`,
      });
      expect(agent.model.requests.length - before).toBe(1);
      answers({ text: 'back again' });
      expect((await agent.ask(`fatal-${status}`, 'and now?')).answer).toBe('back again');
    },
  );

  it.each<[string, ScriptedAnswer]>([
    ['500s', { status: 500 }],
    ['429s', { status: 429 }],
    ['garbage', { raw: '<html>not a stream</html>' }],
    ['cut connections', 'cut'],
    ['silence', 'hang'],
  ])('ends the turn as model-unavailable after %s for as long as it is tried again', async (name, answer) => {
    answers(answer);
    const { events } = await agent.ask(`unavailable-${name.replace(/\W/g, '')}`, 'hello');
    expect(endOf(events)).toMatchObject({ kind: 'error', code: 'model-unavailable' });
    expect(answerIn(events)).toBe('');
  });
});

describe('a model that fails and heals', () => {
  it.each<[string, ScriptedAnswer]>([
    ['a 500', { status: 500 }],
    ['a 429 with retry-after', { status: 429, headers: { 'retry-after': '1' } }],
    ['a 429 that asks for no wait', { status: 429, headers: { 'retry-after': '0' } }],
    ['garbage', { raw: '}{' }],
    ['an answer that was cut', 'cut'],
    ['silence', 'hang'],
  ])(
    'answers after %s, in the same step with the same reading and the same request',
    async (name, answer) => {
      const before = agent.model.bodies.length;
      answers(answer, { text: 'healed' });
      const session = `heals-${name.replace(/\W/g, '')}`;
      const { answer: text } = await agent.ask(session, 'hello');
      expect(text).toBe('healed');
      expect(readingsIn(await agent.events(session))).toHaveLength(1);
      const [first, second] = agent.model.bodies.slice(before);
      expect(second).toBe(first);
    },
  );
});

describe('a model that is odd', () => {
  it('sends keep-alives for longer than it may be silent, and is waited for', async () => {
    answers({ text: 'slow but alive', keepAliveMs: 1_800 });
    const before = agent.model.requests.length;
    expect((await agent.ask('keep-alive', 'hello')).answer).toBe('slow but alive');
    expect(agent.model.requests.length - before).toBe(1);
  });

  it('asks for 2,100 calls at once, and the turn ends with a clear error', async () => {
    answers({ calls: Array.from({ length: 2_100 }, () => ({ name: 'send_mail', arguments: '{}' })) });
    const { events } = await agent.ask('runaway', 'hello');
    expect(endOf(events)).toMatchObject({ kind: 'error', code: 'too-many-calls' });
  });

  it('asks for forty calls at once, and each is answered', async () => {
    answers(
      { calls: Array.from({ length: 40 }, () => ({ name: 'send_mail', arguments: '{}' })) },
      { text: 'all done' },
    );
    const { events, answer } = await agent.ask('forty', 'hello');
    expect(answer).toBe('all done');
    expect(resultsIn(events)).toHaveLength(40);
  });

  it('a first failure after a long queue is still tried again', async () => {
    answers({ status: 500 }, { text: 'healed' });
    const own = await Harness.start({
      script: (request, index) => agent.model.script(request, index),
      model: { retryForMs: 2_500 },
      idle: true,
    });
    try {
      const sent = own.send('queued', 'hello');
      await sleep(4_000);
      await own.startWorker();
      expect(answerIn(await own.turnOf(await sent))).toBe('healed');
    } finally {
      await own.close();
    }
  });
});

describe('tools', () => {
  it('P16: a tool that acted is not run again when a later call of the model fails', async () => {
    answers(call('send_mail'), { status: 400 });
    const { receipt, events } = await agent.ask('mail', 'send it');
    expect(endOf(events)).toMatchObject({ kind: 'error', code: 'http-400' });
    expect(effects.get(`${receipt.sessionId}/1/1/0`)).toBe(1);
  });

  it('an exception becomes an error result that the model sees', async () => {
    answers(call('throws'), { text: 'sorry' });
    const { events } = await agent.ask('throws', 'do it');
    expect(resultsIn(events)).toMatchObject([
      {
        error: { code: 'tool-error' },
        message: { content: [{ isError: true, content: [{ text: 'the tool broke' }] }] },
      },
    ]);
    expect(agent.model.requests.at(-1)!.messages.find(({ role }) => role === 'tool')!.content).toContain(
      'the tool broke',
    );
    expect(answerIn(events)).toBe('sorry');
  });

  it('a tool that listens to nothing does not hold the turn', async () => {
    answers(call('deaf'), { text: 'on we go' });
    const { events } = await agent.ask('deaf', 'do it');
    expect(resultsIn(events)[0]!.error!.code).toBe('timeout');
  });

  it('P19: a result of 3 MB is stored outside the history, and the turn goes on', async () => {
    answers(call('large'), { text: 'that was much' });
    const { events } = await agent.ask('large', 'do it');
    expect(resultsIn(events)[0]!.message.content[0].content[0]!.text).toHaveLength(3 * 1024 * 1024);
    const description = await agent.run('large').describe();
    expect(description.historySize).toBeLessThan(20_000);
    expect(answerIn(events)).toBe('that was much');
  });

  it('a database that stays locked for seconds costs a tool’s outcome nothing', {
    timeout: 60_000,
  }, async () => {
    const key = 'locked';
    let locked: DatabaseSync | undefined;
    agent.model.script = () => {
      const done = effects.has(`${agent.id(key)}/1/1/0`);
      if (done) return { text: 'paid' };
      // The tool takes effect, and cannot write its result for longer than a writer waits for a lock.
      setTimeout(() => {
        locked = new DatabaseSync(agent.databaseUrl.slice('file:'.length));
        locked.exec('begin immediate');
        setTimeout(() => locked!.close(), 6_000);
      }, 150);
      return { calls: [{ name: 'slow_mail', arguments: '{}' }] };
    };
    const { events, answer } = await agent.ask(key, 'pay');
    expect(locked).toBeDefined();
    expect(
      resultsIn(events).map(({ message, error }) => [message.content[0].content[0]!.text, error]),
    ).toEqual([['paid 5', undefined]]);
    expect(answer).toBe('paid');
  });

  it('ends the turn at its limit of steps', async () => {
    answers(call('convert_units'));
    const { events } = await agent.ask('limit', 'for ever');
    expect(endOf(events)).toMatchObject({ kind: 'error', code: 'step-limit' });
    expect(readingsIn(events)).toHaveLength(6);
  });

  it('ends the turn as max-tokens where the answer was cut by its limit', async () => {
    answers({ text: 'a long ans', finish: 'length' });
    const { events } = await agent.ask('max', 'tell me all');
    expect(endOf(events)).toEqual({ kind: 'max-tokens' });
    expect(answerIn(events)).toBe('a long ans');
  });
});

describe('cancel', () => {
  it('stops the model call within a second, and keeps prompts that were not entered for the next turn', async () => {
    answers('hang', { text: 'the next turn' });
    const before = agent.model.aborted;
    const first = await agent.send('cancel-model', 'hello');
    await until(() => agent.model.requests.at(-1)!.messages.some(({ content }) => content === 'hello'));
    const second = await agent.send('cancel-model', 'not entered yet');
    const asked = performance.now();
    await agent.run('cancel-model').cancel();
    await until(() => agent.model.aborted > before);
    expect(performance.now() - asked).toBeLessThan(1_000);
    expect(endOf(await agent.turnOf(first))).toEqual({ kind: 'aborted', cause: 'user' });
    const next = await agent.turnOf(second);
    expect(answerIn(next)).toBe('the next turn');
    expect(endOf(next)).toEqual({ kind: 'completed' });
  });

  it('P26: gives a tool call that was cancelled an error result, and the next prompt works', async () => {
    answers(call('waits'), { text: 'fine' });
    const first = await agent.send('cancel-tool', 'wait');
    await until(async () => (await agent.events('cancel-tool')).some(({ type }) => type === 'tool/call'));
    await sleep(200);
    await agent.run('cancel-tool').cancel();
    const events = await agent.turnOf(first);
    expect(resultsIn(events).map(({ error }) => error!.code)).toEqual(['cancelled']);
    expect(endOf(events)).toMatchObject({ kind: 'aborted' });
    expect((await agent.ask('cancel-tool', 'and now?')).answer).toBe('fine');
  });
});

describe('a worker that goes away', () => {
  it('P64: a shutdown in the middle of a model call is no cancel: the step is tried again with its reading', async () => {
    answers('hang', { text: 'after the deploy' });
    const own = await Harness.start({
      script: (request, index) => agent.model.script(request, index),
      idle: true,
    });
    try {
      const first = await own.startWorker();
      const receipt = await own.send('deploy', 'hello');
      await until(() => own.model.requests.length === 1);
      await first.stop();
      await own.startWorker();
      const events = await own.turnOf(receipt);
      expect(answerIn(events)).toBe('after the deploy');
      expect(endOf(events)).toEqual({ kind: 'completed' });
      expect(readingsIn(await own.events('deploy'))).toHaveLength(1);
      expect(own.model.bodies[1]).toBe(own.model.bodies[0]);
    } finally {
      await own.close();
    }
  });

  it('repairs the turn of a terminated run with the next one', async () => {
    answers(call('waits'), { text: 'a fresh turn' });
    await agent.send('terminated', 'wait');
    await until(async () => (await agent.events('terminated')).some(({ type }) => type === 'tool/call'));
    await agent.run('terminated').terminate();
    const { events } = await agent.ask('terminated', 'hello again');
    expect(answerIn(events)).toBe('a fresh turn');
    const ends = (await agent.events('terminated'))
      .filter(({ type }) => type === 'turn/end')
      .map(({ data }) => (data as EventData['turn/end']).reason.kind);
    expect(ends).toEqual(['interrupted', 'completed']);
    expect(resultsIn(await agent.events('terminated')).map(({ error }) => error?.code)).toEqual([
      'interrupted',
    ]);
  });

  it('works the same without any cached workflow', async () => {
    answers(call('convert_units'), call('convert_units'), { text: 'no cache' });
    const own = await Harness.start({
      script: (request, index) => agent.model.script(request, index),
      tools,
      worker: { maxCachedWorkflows: 0 },
    });
    try {
      const receipt = await own.send('cold', 'do it');
      await own.send('cold', 'and this');
      expect(answerIn(await own.turnOf(receipt))).toContain('no cache');
    } finally {
      await own.close();
    }
  });
});

describe('the plugin', () => {
  it('refuses a bad option with a line that names it, before it connects', () => {
    expect(() => new TimeContextPlugin({ timeZone: 'Not/Real' })).toThrow(
      /^timeZone is "Not\/Real"; allowed: /,
    );
    expect(() => new TimeContextPlugin({ refreshIntervalMs: -1 })).toThrow(
      /^refreshIntervalMs is -1; allowed: /,
    );
    expect(() => new TimeContextPlugin({ maxSteps: 0 })).toThrow(/^maxSteps is 0; allowed: /);
  });

  it('may be given twice', async () => {
    const plugin = new TimeContextPlugin({ databaseUrl: agent.databaseUrl });
    const once = await plugin.configureWorker({ taskQueue: 'x' });
    const twice = await plugin.configureWorker(once);
    expect(Object.keys(twice.activities)).toEqual(Object.keys(once.activities));
    await plugin.runWorker(undefined as never, async () => undefined);
  });

  it('fails loudly where another activity has one of its names', async () => {
    const plugin = new TimeContextPlugin({ databaseUrl: agent.databaseUrl });
    await expect(
      plugin.configureWorker({
        taskQueue: 'x',
        activities: { 'timeContext.preStep': async () => undefined },
      }),
    ).rejects.toThrow(/activities named timeContext\.preStep already/);
    await plugin.runWorker(undefined as never, async () => undefined);
  });

  it('refuses a database of another namespace', async () => {
    const plugin = new TimeContextPlugin({ databaseUrl: agent.databaseUrl });
    await expect(plugin.configureWorker({ taskQueue: 'x', namespace: 'other' })).rejects.toMatchObject({
      code: 'other-namespace',
    });
    await plugin.runWorker(undefined as never, async () => undefined);
  });
});

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const limit = performance.now() + 20_000;
  while (!(await holds())) {
    if (performance.now() > limit) throw new Error(`did not come: ${holds}`);
    await sleep(20);
  }
}
