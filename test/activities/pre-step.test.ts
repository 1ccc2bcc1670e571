/** The pre-step and the closing of turns, against a real log, without Temporal: what stands, what is fenced off. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { closeTurn } from '../../src/activities/close-turn.ts';
import type { ActivityContext } from '../../src/activities/context.ts';
import { preStep } from '../../src/activities/pre-step.ts';
import type {
  AssistantMessage,
  LogEvent,
  OfferedPrompt,
  PreStepAnswer,
  UserMessage,
} from '../../src/contract.ts';
import { readingSettings } from '../../src/reading/settings.ts';
import { toolResult } from '../../src/session/close.ts';
import { openDatabase } from '../../src/session/database.ts';
import { EMPTY_SESSION, SessionLog } from '../../src/session/session-log.ts';
import { verifyEvents } from '../../src/verify/verify.ts';

const S = 's';
let folder: string;
let log: SessionLog;
let context: ActivityContext;
let now: number;
let current: boolean;
beforeEach(async () => {
  now = Date.parse('2026-07-15T01:01:01Z');
  current = true;
  folder = await mkdtemp(join(tmpdir(), 'time-context-pre-step-'));
  log = new SessionLog(await openDatabase(`file:${join(folder, 'log.db')}`), { now: () => now });
  context = {
    log,
    reading: readingSettings({}, { timeZone: 'UTC', tzdata: process.versions.tz }),
    tools: [],
    maxSteps: 3,
    isCurrentRun: async () => current,
  };
});
afterEach(async () => {
  for (const { sessionId } of await log.sessions()) {
    const { problems } = await verifyEvents(await log.header(sessionId), log.events(sessionId));
    expect(problems).toEqual([]);
  }
  await log.close();
  await rm(folder, { recursive: true, force: true });
});

const prompt = (promptId: string, extra: Partial<OfferedPrompt> = {}): OfferedPrompt => ({
  promptId,
  text: `text of ${promptId}`,
  acceptedAt: now,
  ...extra,
});
const ask = (turnKey: string, step: number, messages: OfferedPrompt[] = []): Promise<PreStepAnswer> =>
  new MockActivityEnvironment().run(preStep(context), { sessionId: S, turnKey, step, messages });
const close = (turnKey: string) =>
  new MockActivityEnvironment().run(closeTurn(context), {
    sessionId: S,
    turnKey,
    reason: { kind: 'aborted' as const, cause: 'user' },
  });
const events = (): Promise<LogEvent[]> => Array.fromAsync(log.events(S));
const types = async () => (await events()).map(({ type }) => type);
const readings = async () =>
  (await events()).map(({ data }) => data as UserMessage).filter(({ reading }) => reading);

/** The model's message of the open step, with so many calls. */
const say = (calls = 0) =>
  log.write('test', async (tx) => {
    const state = (await tx.session(S))!;
    const content: AssistantMessage['content'] =
      calls === 0
        ? [{ type: 'text', text: 'said' }]
        : Array.from({ length: calls }, (_, n) => ({
            type: 'tool-call' as const,
            id: `c${n}`,
            name: 'tool',
            arguments: '{}',
          }));
    const message: AssistantMessage = {
      id: 'm',
      role: 'assistant',
      content,
      source: { kind: 'model', provider: 'p', model: 'm' },
    };
    await tx.append(S, state, [
      {
        event: {
          type: 'assistant/message',
          data: { turn: state.turn, step: state.step, message },
          surfaceOp: 'append',
        },
      },
    ]);
  });
const answerCall = (index: number) =>
  log.write('test', async (tx) => {
    const state = (await tx.session(S))!;
    const data = {
      turn: state.turn,
      step: state.step,
      message: toolResult({ id: `c${index}` }, 'result', false),
    };
    await tx.append(S, state, [
      { event: { type: 'tool/result', data, surfaceOp: 'append' }, slot: `result:${index}` },
    ]);
  });

describe('what the log says is what is answered', () => {
  it('nothing offered, nothing open: ended, and no session is made', async () => {
    expect(await ask('k', 1)).toEqual({ status: 'ended', reason: 'none', logged: [] });
    expect(await log.sessions()).toEqual([]);
  });

  it('something offered: turn, step, messages and reading at once', async () => {
    expect(await ask('k', 1, [prompt('a'), prompt('b')])).toEqual({
      status: 'entered',
      turn: 1,
      step: 1,
      logged: ['a', 'b'],
    });
    expect(await types()).toEqual([
      'turn/start',
      'step/start',
      'user/message',
      'user/message',
      'user/message',
    ]);
  });

  it('P15: the same step again writes nothing and gives back the first reading', async () => {
    await ask('k', 1, [prompt('a')]);
    const first = await events();
    now += 60_000;
    expect(await ask('k', 1, [prompt('a')])).toEqual({ status: 'entered', turn: 1, step: 1, logged: ['a'] });
    expect(await events()).toEqual(first);
  });

  it('the same step again with another prompt does not take it: it stays offered for the next step', async () => {
    await ask('k', 1, [prompt('a')]);
    expect(await ask('k', 1, [prompt('a'), prompt('late')])).toEqual({
      status: 'entered',
      turn: 1,
      step: 1,
      logged: ['a'],
    });
    await say();
    expect(await ask('k', 2, [prompt('late')])).toEqual({
      status: 'entered',
      turn: 1,
      step: 2,
      logged: ['late'],
    });
  });

  it('a step that stands open is entered again, even if the caller no longer knows why', async () => {
    await ask('k', 1, [prompt('a')]);
    expect(await ask('k', 1)).toEqual({ status: 'entered', turn: 1, step: 1, logged: [] });
  });

  it('the caller’s count of steps decides nothing', async () => {
    await ask('k', 1, [prompt('a')]);
    await say(1);
    await answerCall(0);
    expect(await ask('k', 7)).toMatchObject({ status: 'entered', step: 2 });
    await say();
    expect(await ask('k', 1, [prompt('b')])).toMatchObject({ status: 'entered', step: 3, logged: ['b'] });
  });

  it('calls that are owed are named, whatever is offered', async () => {
    await ask('k', 1, [prompt('a')]);
    await say(3);
    await answerCall(1);
    expect(await ask('k', 2, [prompt('b')])).toEqual({
      status: 'tools',
      turn: 1,
      step: 1,
      calls: [0, 2],
      logged: [],
    });
  });

  it('a tool continuation with nothing new gets its reading', async () => {
    await ask('k', 1, [prompt('a')]);
    await say(1);
    await answerCall(0);
    now += 61_000;
    await ask('k', 2);
    expect((await readings()).map(({ reading }) => reading!.elapsed.ms)).toEqual([null, 61_000]);
  });

  it('P62: nothing new and nothing asked for ends the turn without a reading', async () => {
    await ask('k', 1, [prompt('a')]);
    await say();
    expect(await ask('k', 2)).toEqual({ status: 'ended', turn: 1, reason: 'completed', logged: [] });
    expect(await readings()).toHaveLength(1);
    expect(await ask('k', 2, [prompt('b')])).toEqual({
      status: 'ended',
      turn: 1,
      reason: 'completed',
      logged: [],
    });
    expect((await types()).at(-1)).toBe('turn/end');
  });

  it('a prompt that the log knows opens no turn', async () => {
    await ask('k', 1, [prompt('a')]);
    await say();
    await ask('k', 2);
    expect(await ask('k2', 1, [prompt('a'), prompt('a')])).toEqual({
      status: 'ended',
      reason: 'none',
      logged: ['a'],
    });
  });

  it('a prompt id that is offered twice in a batch is entered once', async () => {
    await ask('k', 1, [prompt('a'), prompt('a', { text: 'another' })]);
    expect((await events()).filter(({ data }) => (data as UserMessage).prompt)).toHaveLength(1);
  });

  it('the limit of steps ends the turn, and leaves what is new to the next', async () => {
    await ask('k', 1, [prompt('a')]);
    for (let step = 1; step <= 3; step += 1) {
      await say(1);
      await answerCall(0);
      if (step < 3) await ask('k', step + 1);
    }
    expect(await ask('k', 4, [prompt('b')])).toEqual({
      status: 'ended',
      turn: 1,
      reason: 'error',
      code: 'step-limit',
      logged: [],
    });
  });
});

describe('the limit of steps', () => {
  it('is no error for an answer that is whole: what is new opens the next turn', async () => {
    await ask('k', 1, [prompt('a')]);
    for (let step = 1; step < 3; step += 1) {
      await say(1);
      await answerCall(0);
      await ask('k', step + 1);
    }
    await say();
    expect(await ask('k', 4, [prompt('b')])).toEqual({
      status: 'ended',
      turn: 1,
      reason: 'completed',
      logged: [],
    });
  });
});

describe('fences', () => {
  it('a late pre-step opens no turn under a key that was closed before', async () => {
    expect(await close('k')).toEqual({ status: 'closed' });
    expect(await ask('k', 1, [prompt('a')])).toEqual({ status: 'ended', reason: 'aborted', logged: [] });
    expect(await log.sessions()).toEqual([]);
  });

  it('a turn that was closed stays closed, and closing it again answers its end', async () => {
    await ask('k', 1, [prompt('a')]);
    await say(2);
    await answerCall(0);
    expect(await close('k')).toEqual({ status: 'ended', turn: 1, reason: 'aborted' });
    expect((await types()).slice(-3)).toEqual(['tool/result', 'step/end', 'turn/end']);
    const stands = await events();
    expect(await close('k')).toEqual({ status: 'ended', turn: 1, reason: 'aborted' });
    expect(await ask('k', 2, [prompt('b')])).toEqual({
      status: 'ended',
      turn: 1,
      reason: 'aborted',
      logged: [],
    });
    expect(await events()).toEqual(stands);
  });

  it('the current run repairs another key’s open turn, then opens its own', async () => {
    await ask('dead', 1, [prompt('a')]);
    await say(2);
    expect(await ask('k', 1, [prompt('b')])).toEqual({ status: 'entered', turn: 2, step: 1, logged: ['b'] });
    expect((await types()).slice(6, 10)).toEqual(['tool/result', 'step/end', 'turn/end', 'turn/start']);
  });

  it('a run that was reset to an older turn closes the newer one that it left without a run', async () => {
    await ask('k1', 1, [prompt('a')]);
    await say();
    await ask('k1', 2);
    await ask('k2', 1, [prompt('b')]);
    expect(await ask('k1', 2)).toEqual({ status: 'ended', turn: 1, reason: 'completed', logged: [] });
    expect((await events()).at(-1)!.data).toEqual({ turn: 2, reason: { kind: 'interrupted' } });
  });

  it('a run that is not the current one changes nothing of another key’s turn', async () => {
    await ask('k', 1, [prompt('a')]);
    const stands = await events();
    current = false;
    expect(await ask('zombie', 1, [prompt('b')])).toEqual({ status: 'superseded' });
    expect(await events()).toEqual(stands);
  });

  it('an attempt that outlived its time writes nothing', async () => {
    const late = new MockActivityEnvironment({ startToCloseTimeoutMs: -1 });
    await expect(
      late.run(preStep(context), { sessionId: S, turnKey: 'k', step: 1, messages: [prompt('a')] }),
    ).rejects.toMatchObject({ type: 'too-late' });
    expect(await log.sessions()).toEqual([]);
  });

  it('a session of another driver is refused for good', async () => {
    await log.write('test', (tx) => tx.create(S, { driver: 'foreign' }));
    await expect(ask('k', 1, [prompt('a')])).rejects.toMatchObject({
      type: 'foreign-session',
      nonRetryable: true,
    });
  });

  it('P70: an implausible clock makes no reading and writes nothing', async () => {
    now = Date.parse('1999-12-31T23:59:59Z');
    await expect(ask('k', 1, [prompt('a')])).rejects.toMatchObject({ code: 'implausible-clock' });
    expect(await log.sessions()).toEqual([]);
  });
});

describe('zones and refresh from the log', () => {
  it('P03, P51: aliases of one zone are one zone, across steps', async () => {
    await ask('k', 1, [prompt('a', { timeZone: 'asia/calcutta' })]);
    await say();
    await ask('k', 2, [prompt('b', { timeZone: 'Asia/Kolkata' })]);
    expect((await readings()).map(({ reading }) => reading!.zone)).toEqual(
      [1, 2].map(() => ({
        status: 'resolved',
        name: 'Asia/Kolkata',
        names: ['Asia/Kolkata'],
        display: 'Asia/Kolkata',
      })),
    );
  });

  it('two zones of one turn are mixed, and the next turn starts afresh', async () => {
    await ask('k', 1, [prompt('a', { timeZone: 'Asia/Tokyo' })]);
    await say();
    await ask('k', 2, [prompt('b', { timeZone: 'Europe/Berlin' })]);
    await say();
    await ask('k', 3);
    await ask('k2', 1, [prompt('c')]);
    expect((await readings()).map(({ reading }) => reading!.zone.status)).toEqual([
      'resolved',
      'mixed',
      'unavailable',
    ]);
  });

  it.each(['Etc/Unknown', 'Not/Real', 'CST', '+08:00', 'x'.repeat(200)])(
    'P06, P54: a zone %s leaves the prompt without one and keeps what was given',
    async (timeZone) => {
      await ask('k', 1, [prompt('a', { timeZone })]);
      const message = (await events())[2]!.data as UserMessage;
      expect(message.source).toEqual({ kind: 'user', rpcId: 'a' });
      expect(message.prompt!.givenTimeZone).toBe(timeZone);
      expect((await readings())[0]!.reading!.zone.status).toBe('unavailable');
    },
  );

  it('a positive interval holds readings back until it is over, across turns', async () => {
    context.reading = readingSettings(
      { refreshIntervalMs: 10_000 },
      { timeZone: 'UTC', tzdata: process.versions.tz },
    );
    const turn = async (key: string) => {
      await ask(key, 1, [prompt(key)]);
      await say();
      await ask(key, 2);
    };
    await turn('k1');
    now += 9_999;
    await turn('k2');
    now += 1;
    await turn('k3');
    now -= 5_000;
    await turn('k4');
    expect((await readings()).map(({ reading }) => reading!.turn)).toEqual([1, 3, 4]);
  });

  it('zone-change makes a reading due inside the interval, and compares with readings of other wording too', async () => {
    context.reading = readingSettings(
      { refreshIntervalMs: 3_600_000, refreshOn: ['zone-change'] },
      { timeZone: 'UTC', tzdata: process.versions.tz },
    );
    const foreign =
      'Time sampled while preparing turn 1, step 1: 2026-07-15T10:01:00+09:00[Asia/Tokyo]\nBrowser time zone for this request: Asia/Tokyo. Interpret otherwise-unqualified dates and times in this zone.\nElapsed since the preceding model-visible message: unavailable.';
    const source = {
      kind: 'plugin',
      plugin: 'time-context',
      form: 'snapshot',
      sections: [{ name: 'time-context', text: foreign }],
    };
    const message = (text: string, from: object): UserMessage => ({
      id: text,
      role: 'user',
      content: [{ type: 'text', text }],
      source: from as never,
    });
    await log.write('test', async (tx) => {
      await tx.create(S);
      await tx.append(S, EMPTY_SESSION, [
        { event: { type: 'turn/start', data: { turn: 1 } } },
        { event: { type: 'step/start', data: { turn: 1, step: 1 } } },
        {
          event: {
            type: 'user/message',
            data: message('hi', { kind: 'user', rpcId: 'r', clientTimeZone: 'Asia/Tokyo' }),
            surfaceOp: 'append',
          },
        },
        { event: { type: 'user/message', data: message(foreign, source), surfaceOp: 'append' } },
        { event: { type: 'step/end', data: { turn: 1, step: 1 } } },
        { event: { type: 'turn/end', data: { turn: 1, reason: { kind: 'completed' } } } },
      ]);
    });
    await ask('k', 1, [prompt('a', { timeZone: 'Asia/Tokyo' })]);
    expect(await readings()).toHaveLength(0);
    await say();
    await ask('k', 2, [prompt('b', { timeZone: 'Europe/Berlin' })]);
    expect((await readings()).map(({ reading }) => reading!.zone.status)).toEqual(['mixed']);
  });

  it('a prompt that waited for a minute is said to have waited', async () => {
    await ask('k', 1, [prompt('a', { acceptedAt: now - 90_500 })]);
    expect((await readings())[0]!.content[0]!.text.split('\n')[3]).toBe(
      'The latest prompt was accepted 1m 30s before this reading.',
    );
  });
});
