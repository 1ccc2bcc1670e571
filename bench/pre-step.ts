/** The pre-step's own time on a short log and on a long one, each in its file on disk, durably written. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { preStep } from '../src/activities/pre-step.ts';
import type { PreStepAnswer } from '../src/contract.ts';
import { readingSettings } from '../src/reading/settings.ts';
import { toolResult } from '../src/session/close.ts';
import { openDatabase } from '../src/session/database.ts';
import { type AppendedEvent, EMPTY_SESSION, SessionLog } from '../src/session/session-log.ts';
import { median, quantile, round } from './statistics.ts';

const SESSION = 'long';
const KEY = 'open-turn';
const CHUNK = 10_000;

export async function preStepMs(sizes: readonly number[], samples: number, log: (line: string) => void) {
  const folder = await mkdtemp(join(tmpdir(), 'time-context-pre-step-'));
  try {
    const logs = [];
    for (const size of sizes) {
      log(`writing a log of ${size.toLocaleString('en-US')} events`);
      const sessionLog = new SessionLog(await openDatabase(`file:${join(folder, `${size}.db`)}`));
      await fill(sessionLog, size);
      logs.push({ size, sessionLog, times: [] as number[] });
    }
    log(`${samples} pre-steps on each`);
    for (let step = 1; step <= samples; step += 1) {
      for (const { sessionLog, times } of logs) times.push(await timedStep(sessionLog, step));
    }
    for (const { sessionLog } of logs) await sessionLog.close();
    return Object.fromEntries(
      logs.map(({ size, times }) => [
        size,
        { median: round(median(times), 3), p99: round(quantile(times, 0.99), 3) },
      ]),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Enters a step and answers it with a tool call and its result, so that the next one can be entered. */
async function timedStep(sessionLog: SessionLog, step: number): Promise<number> {
  const context = {
    log: sessionLog,
    reading: readingSettings({}, { timeZone: 'UTC', tzdata: process.versions.tz }),
    tools: [],
    maxSteps: Number.MAX_SAFE_INTEGER,
  };
  const messages =
    step === 1 ? [{ promptId: KEY, text: 'hello', acceptedAt: Date.now(), timeZone: 'Europe/Berlin' }] : [];
  const activity = preStep(context);
  const environment = new MockActivityEnvironment({ startToCloseTimeoutMs: 5_000 });
  const started = performance.now();
  const answer: PreStepAnswer = await environment.run(activity, {
    sessionId: SESSION,
    turnKey: KEY,
    step,
    messages,
  });
  const took = performance.now() - started;
  if (answer.status !== 'entered' || answer.step !== step)
    throw new Error(`not entered: ${JSON.stringify(answer)}`);
  await sessionLog.write('bench', async (tx) => {
    const state = (await tx.session(SESSION))!;
    await tx.append(SESSION, state, stepAnswer(state.turn, step));
  });
  return took;
}

async function fill(sessionLog: SessionLog, size: number): Promise<void> {
  await sessionLog.write('bench', (tx) => tx.create(SESSION));
  let turn = 0;
  for (let written = 0; written < size; ) {
    await sessionLog.write('bench', async (tx) => {
      let state = (await tx.session(SESSION)) ?? EMPTY_SESSION;
      for (let chunk = 0; chunk < CHUNK && written < size; ) {
        turn += 1;
        const events = closedTurn(turn).slice(0, Math.max(size - written, 11));
        state = await tx.append(SESSION, state, events);
        chunk += events.length;
        written += events.length;
      }
    });
  }
}

function closedTurn(turn: number): AppendedEvent[] {
  const text = `Time sampled while preparing turn ${turn}, step 1: 2026-07-15T09:01:01+00:00[UTC]`;
  const user = (source: object, said: string) =>
    ({
      event: {
        type: 'user/message',
        data: {
          id: `m${turn}`,
          role: 'user',
          content: [{ type: 'text', text: said }],
          source: source as { kind: string },
        },
        surfaceOp: 'append',
      },
    }) satisfies AppendedEvent;
  return [
    { event: { type: 'turn/start', data: { turn, turnKey: `key-${turn}` } } },
    { event: { type: 'step/start', data: { turn, step: 1 } } },
    user(
      { kind: 'user', rpcId: `p${turn}`, clientTimeZone: 'Asia/Tokyo' },
      'what time is it, and what did we say about it yesterday?',
    ),
    user(
      {
        kind: 'plugin',
        plugin: 'time-context',
        form: 'snapshot',
        sections: [{ name: 'time-context', text }],
      },
      text,
    ),
    ...stepAnswer(turn, 1),
    { event: { type: 'step/end', data: { turn, step: 1 } } },
    { event: { type: 'turn/end', data: { turn, reason: { kind: 'completed' } } } },
  ];
}

function stepAnswer(turn: number, step: number): AppendedEvent[] {
  const call = { type: 'tool-call' as const, id: 'call-1', name: 'tool', arguments: '{}' };
  const source = { kind: 'model' as const, provider: 'bench', model: 'bench' };
  const message = { id: `a${turn}-${step}`, role: 'assistant' as const, content: [call], source };
  return [
    { event: { type: 'assistant/message', data: { turn, step, message }, surfaceOp: 'append' } },
    {
      event: {
        type: 'tool/call',
        data: { turn, step, callId: call.id, name: call.name, arguments: call.arguments },
      },
      slot: 'call:0',
    },
    {
      event: {
        type: 'tool/result',
        data: { turn, step, message: toolResult(call, 'x'.repeat(200), false) },
        surfaceOp: 'append',
      },
      slot: 'result:0',
    },
  ];
}
