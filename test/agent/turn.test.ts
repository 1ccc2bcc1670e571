import { WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EventData, LogEvent, UserMessage } from '../../src/contract.ts';
import { answerIn, Harness, readingsIn, textOf } from './harness.ts';
import type { ScriptedAnswer, WireRequest } from './scripted-model.ts';

let agent: Harness;

/** The script reads what to do from the last prompt: `say X`, `tools N`, `fail STATUS`, … */
function script({ messages }: WireRequest): ScriptedAnswer {
  const last =
    messages.findLast(({ role, content }) => role === 'user' && !content?.startsWith('Time sampled'))
      ?.content ?? '';
  const tools = /tools (\d+)/.exec(last);
  if (tools) {
    const done = messages
      .slice(messages.findLastIndex(({ content }) => content === last))
      .filter(({ role }) => role === 'tool').length;
    if (done < Number(tools[1]))
      return { calls: [{ name: 'convert_units', arguments: '{"value":10,"from":"km","to":"miles"}' }] };
  }
  return { text: `answer to ${last.slice(0, 40)}` };
}

beforeAll(async () => {
  const { demoTools } = await import('../../src/tools/index.ts');
  agent = await Harness.start({ script, tools: demoTools });
});
afterAll(() => agent.close());

const types = (events: readonly LogEvent[]) => events.map(({ type }) => type);

describe('a turn', () => {
  it('logs turn, step, prompt, reading, header and answer in this order', async () => {
    const { receipt, answer } = await agent.ask('one', 'hello', { timeZone: 'europe/berlin' });
    const events = await agent.events('one');
    expect(types(events)).toEqual([
      'turn/start',
      'step/start',
      'user/message',
      'user/message',
      'request/header',
      'assistant/message',
      'step/end',
      'turn/end',
    ]);
    expect(answer).toBe('answer to hello');
    const prompt = events[2]!.data as UserMessage;
    expect(prompt.source).toEqual({ kind: 'user', rpcId: receipt.promptId, clientTimeZone: 'Europe/Berlin' });
    expect(prompt.prompt).toMatchObject({ givenTimeZone: 'europe/berlin' });
    const reading = events[3]!.data as UserMessage;
    expect(reading.source).toEqual({
      kind: 'plugin',
      plugin: 'time-context',
      form: 'snapshot',
      sections: [{ name: 'time-context', text: textOf(reading) }],
    });
    expect(textOf(reading)).toMatch(
      /^Time sampled while preparing turn 1, step 1: \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d\[Europe\/Berlin\]\n\w+day\. Time zone of this request: Europe\/Berlin; read dates and times that name no zone in it\.\nElapsed since the preceding model-visible message: unavailable\.$/,
    );
    expect(events.at(-1)!.data).toEqual({ turn: 1, reason: { kind: 'completed' } });
  });

  it('gives each step of a tool turn its reading, and ends after the last answer', async () => {
    await agent.ask('tools', 'tools 2');
    const events = await agent.events('tools');
    expect(readingsIn(events).map((reading) => [reading.reading!.turn, reading.reading!.step])).toEqual([
      [1, 1],
      [1, 2],
      [1, 3],
    ]);
    expect(types(events).filter((type) => type.startsWith('tool/'))).toEqual([
      'tool/call',
      'tool/result',
      'tool/call',
      'tool/result',
    ]);
    expect(textOf(readingsIn(events)[1])).toMatch(/Elapsed since the preceding step context: \d+s\.$/);
    expect(answerIn(events)).toBe('answer to tools 2');
  });

  it('P11, P12: the bytes of a request are the beginning of the next one’s, readings and all', async () => {
    const from = agent.model.requests.length;
    await agent.ask('prefix', 'tools 2', { timeZone: 'Asia/Tokyo' });
    await agent.ask('prefix', 'and now?', { timeZone: 'Asia/Tokyo' });
    const requests = agent.model.requests.slice(from);
    expect(requests.length).toBe(4);
    for (const [index, request] of requests.slice(1).entries()) {
      const before = JSON.stringify(requests[index]!.messages);
      expect(JSON.stringify(request.messages).startsWith(before.slice(0, -1))).toBe(true);
    }
    expect(new Set(requests.map(({ messages }) => messages[0]!.content)).size).toBe(1);
  });

  it('P17: the same prompt id again, during the turn and after it, changes nothing', async () => {
    const { receipt } = await agent.ask('twice', 'once only', { promptId: 'p-1' });
    const repeated = { sessionId: agent.id('twice'), promptId: 'p-1' };
    expect(await agent.send('twice', 'once only', { promptId: 'p-1' })).toMatchObject(repeated);
    await agent.run('twice').result();
    // The server knows the update of its latest run; after another run, only the log knows the prompt.
    expect(await agent.send('twice', 'once only', { promptId: 'p-1' })).toEqual(receipt);
    await agent.ask('twice', 'something else');
    await agent.run('twice').result();
    const again = await agent.send('twice', 'another text', { promptId: 'p-1' });
    expect(again).toMatchObject(repeated);
    expect(again.runId).not.toBe(receipt.runId);
    await expect(agent.run('twice').result()).resolves.toEqual({ reason: 'known-prompt' });
    expect(types(await agent.events('twice')).filter((type) => type === 'turn/start')).toHaveLength(2);
  });

  it('takes a prompt from a plain workflow start', async () => {
    const handle = await agent.client.workflow.start('agentTurn', {
      workflowId: `session:${agent.id('plain')}`,
      taskQueue: agent.taskQueue,
      args: [{ sessionId: agent.id('plain'), prompt: { text: 'hello', timeZone: 'Not/Real' } }],
    });
    await expect(handle.result()).resolves.toEqual({ turn: 1, reason: 'completed' });
    const prompt = (await agent.events('plain'))[2]!.data as UserMessage;
    expect(prompt.source).toEqual({ kind: 'user', rpcId: handle.firstExecutionRunId });
    expect(prompt.prompt!.givenTimeZone).toBe('Not/Real');
    expect(readingsIn(await agent.events('plain'))[0]!.reading!.zone.status).toBe('unavailable');
  });

  it.each([
    [
      'an empty text',
      { sessionId: 'bad-start', prompt: { text: '' } },
      'session:bad-start',
      'invalid-prompt',
    ],
    [
      'a text that is too large',
      { sessionId: 'bad-start', prompt: { text: 'x'.repeat(256 * 1024 + 1) } },
      'session:bad-start',
      'prompt-too-large',
    ],
    [
      'another workflow id',
      { sessionId: 'bad-start', prompt: { text: 'hi' } },
      'session:other',
      'wrong-workflow-id',
    ],
    ['a bad session id', { sessionId: 'a b', prompt: { text: 'hi' } }, 'session:a b', 'invalid-session-id'],
    [
      'a carried inbox that is none',
      { sessionId: 'bad-start', carried: { inbox: 5 } },
      'session:bad-start',
      'invalid-argument',
    ],
    [
      'a carried prompt that is none',
      { sessionId: 'bad-start', carried: { inbox: [null] } },
      'session:bad-start',
      'invalid-prompt-id',
    ],
    ['no argument', undefined, 'session:bad-start', 'invalid-session-id'],
  ])('fails at once for a start with %s', async (_, argument, workflowId, code) => {
    const handle = await agent.client.workflow.start('agentTurn', {
      workflowId,
      taskQueue: agent.taskQueue,
      args: [argument],
    });
    const error = await handle.result().catch((failure) => failure);
    expect(error).toBeInstanceOf(WorkflowFailedError);
    expect(error.cause).toBeInstanceOf(ApplicationFailure);
    expect(error.cause.type).toBe(code);
  });

  it.each([
    ['empty', { text: '' }, 'invalid-prompt'],
    ['5 MB', { text: 'x'.repeat(5 * 1024 * 1024) }, 'prompt-too-large'],
    ['a bad zone', { text: 'hi', timeZone: 'CST' }, 'invalid-time-zone'],
    ['a bad prompt id', { text: 'hi', promptId: 'ü' }, 'invalid-prompt-id'],
    ['a bad session id', { text: 'hi', sessionId: '../x' }, 'invalid-session-id'],
  ])('the client refuses a prompt that is %s', async (_, { text, ...options }, code) => {
    await expect(agent.send('refused', text, options)).rejects.toMatchObject({ code });
  });

  it.each([
    ['an empty text', [{ text: '' }], 'invalid-prompt'],
    ['a zone that cannot be one', [{ text: 'hi', timeZone: 'Not A Zone' }], 'invalid-time-zone'],
    ['a clock that is none', [{ text: 'hi', clientTime: 'noon' }], 'invalid-client-time'],
    ['null', [null], 'invalid-prompt'],
    ['no argument', [], 'invalid-prompt'],
    ['a text of 300 KB', [{ text: 'x'.repeat(300 * 1024) }], 'prompt-too-large'],
  ])('the update refuses %s, and the turn is none the worse', async (_, args, code) => {
    const { WithStartWorkflowOperation } = await import('@temporalio/client');
    const start = new WithStartWorkflowOperation('agentTurn', {
      workflowId: `session:${agent.id('raw')}`,
      taskQueue: agent.taskQueue,
      args: [{ sessionId: agent.id('raw') }],
      workflowIdConflictPolicy: 'USE_EXISTING',
    });
    const error = await agent.client.workflow
      .executeUpdateWithStart('prompt', { args: args as unknown[], startWorkflowOperation: start as never })
      .catch((failure: Error) => failure);
    expect((error as Error).cause).toMatchObject({ type: code });
  });

  it('P25: prompts that arrive while a turn runs enter it or the next one, each once', async () => {
    const ids = Array.from({ length: 24 }, (_, index) => `steer-${index}`);
    const first = await agent.send('steered', 'tools 4', { promptId: 'first' });
    await Promise.all(ids.map((promptId) => agent.send('steered', `say ${promptId}`, { promptId })));
    await agent.turnOf(first);
    for (const promptId of ids) await agent.turnOf({ sessionId: agent.id('steered'), promptId, runId: '' });
    const logged = (await agent.events('steered'))
      .filter(({ type, data }) => type === 'user/message' && (data as UserMessage).prompt)
      .map(({ data }) => (data as { source: { rpcId: string } }).source.rpcId);
    expect([...logged].sort()).toEqual(['first', ...ids].sort());
  });

  it('takes null for absent, as clients of other languages send it', async () => {
    const handle = await agent.client.workflow.start('agentTurn', {
      workflowId: `session:${agent.id('nulls')}`,
      taskQueue: agent.taskQueue,
      args: [
        { sessionId: agent.id('nulls'), prompt: { text: 'hi', timeZone: null, clientTime: null, id: null } },
      ],
    });
    await expect(handle.result()).resolves.toEqual({ turn: 1, reason: 'completed' });
    const prompt = (await agent.events('nulls'))[2]!.data as UserMessage;
    expect(Object.keys(prompt.prompt!)).toEqual(['acceptedAt']);
  });

  it('refuses a prompt id that waits already with another text, and acknowledges nothing in a run that will fail', async () => {
    const own = await Harness.start({ idle: true });
    try {
      await own.client.workflow.start('agentTurn', {
        workflowId: `session:${own.id('conflict')}`,
        taskQueue: own.taskQueue,
        args: [{ sessionId: own.id('conflict'), prompt: { id: 'p', text: 'one text' } }],
      });
      const second = own.send('conflict', 'another text', { promptId: 'p' }).catch((error) => error);
      const wrong = await own.client.workflow.start('agentTurn', {
        workflowId: `session:${own.id('wrong')}`,
        taskQueue: own.taskQueue,
        args: [{ sessionId: 'somebody-else' }],
      });
      const misled = wrong.executeUpdate('prompt', { args: [{ text: 'hello' }] }).catch((error) => error);
      await new Promise((resolve) => setTimeout(resolve, 300));
      await own.startWorker();
      expect(await second).toMatchObject({ code: 'prompt-id-conflict' });
      expect(await misled).toBeInstanceOf(Error);
      await expect(wrong.result()).rejects.toThrow();
      await own.run('conflict').result();
    } finally {
      await own.close();
    }
  });

  it('keeps emoji, combining marks, right-to-left text and lone surrogates as they came', async () => {
    const text = 'Wie spät? 🕰️👩‍👩‍👧 שלום é \u0000 \ud83d end';
    await agent.ask('emoji', text);
    const prompt = (await agent.events('emoji'))[2]!.data as UserMessage;
    expect(textOf(prompt)).toBe(text);
  });

  it('answers error results for calls it cannot run, and goes on', async () => {
    const answers: ScriptedAnswer[] = [
      {
        calls: [
          { name: 'no_such_tool', arguments: '{}' },
          { name: 'convert_units', arguments: 'not json' },
        ],
      },
      { text: 'sorry' },
    ];
    const before = agent.model.script;
    agent.model.script = () => answers.shift()!;
    try {
      const { answer } = await agent.ask('bad-calls', 'do it');
      expect(answer).toBe('sorry');
    } finally {
      agent.model.script = before;
    }
    const results = (await agent.events('bad-calls'))
      .filter(({ type }) => type === 'tool/result')
      .map(({ data }) => data as EventData['tool/result']);
    expect(results.map(({ error }) => error!.code).sort()).toEqual(['invalid-arguments', 'unknown-tool']);
  });
});
