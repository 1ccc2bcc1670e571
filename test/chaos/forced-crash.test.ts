/**
 * The process ends at a given commit: before it or after it, with the server or without, for every writer of the log;
 * before the restart comes a prompt, or a cancel. Whatever stood then, each accepted prompt is in the log once, each
 * turn closes, each session verifies.
 */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { ScriptedAnswer, WireRequest } from '../agent/scripted-model.ts';
import { naivePrompts } from './naive/activities.ts';
import { Site, TASK_QUEUE } from './site.ts';

const SESSION = 'forced';
/** Longer than the minute after which a run asks the log for its open turn. */
const SETTLE_MS = 100_000;

/** First a call of each tool, then an answer; a prompt that says `hang` is not answered while the first worker lives. */
function script(hangs: { now: boolean }) {
  return async ({ messages }: WireRequest): Promise<ScriptedAnswer> => {
    const last = messages.findLastIndex(
      ({ role, content }) => role === 'user' && !content?.startsWith('Time sampled'),
    );
    if (messages[last]!.content!.includes('hang') && hangs.now) return 'hang';
    if (messages[last]!.content!.includes('fail')) return { status: 401 };
    if (
      messages.slice(last).some(({ role }) => role === 'tool') ||
      !messages[last]!.content!.includes('tools')
    )
      return { text: 'answer' };
    return {
      calls: [
        { name: 'take_effect', arguments: '{}' },
        { name: 'convert_units', arguments: '{"value":1,"from":"km","to":"mile"}' },
      ],
    };
  };
}

/** The commits of a turn with one tool step, and of one that is cancelled, and of one that follows a terminated run. */
type Provoke = 'tools' | 'cancel' | 'terminate' | 'fail' | 'cancel before a turn';
const POINTS: { writer: string; nth: number; provoke: Provoke }[] = [
  { writer: 'preStep', nth: 1, provoke: 'tools' },
  { writer: 'header', nth: 1, provoke: 'tools' },
  { writer: 'callModel', nth: 1, provoke: 'tools' },
  { writer: 'toolCall', nth: 1, provoke: 'tools' },
  { writer: 'runTool', nth: 1, provoke: 'tools' },
  { writer: 'preStep', nth: 2, provoke: 'tools' },
  { writer: 'callModel', nth: 2, provoke: 'tools' },
  { writer: 'preStep', nth: 3, provoke: 'tools' },
  { writer: 'closeTurn', nth: 1, provoke: 'cancel' },
  { writer: 'closeTurn', nth: 1, provoke: 'fail' },
  { writer: 'closeTurn', nth: 1, provoke: 'cancel before a turn' },
  { writer: 'repair', nth: 1, provoke: 'terminate' },
];

const CASES = POINTS.flatMap((point) =>
  (['before', 'after'] as const).flatMap((phase) =>
    [false, true].flatMap((withServer) =>
      (['prompt', 'cancel'] as const).map((meanwhile) => ({ ...point, phase, withServer, meanwhile })),
    ),
  ),
);

const PROMPTS = { tools: 'use the tools', cancel: 'hang', terminate: 'hang', fail: 'fail' };

describe.concurrent('a crash at a commit', () => {
  it.for(CASES)(
    '$phase $writer $nth ($provoke), server killed: $withServer, then a $meanwhile',
    { timeout: 240_000 },
    async (point) => {
      const hangs = { now: true };
      const site = await Site.open(inject('workflowBundle'), script(hangs));
      try {
        const acknowledged = new Map<string, string>();
        const gaveUp = new Map<string, unknown>();
        const send = (text: string, promptId: string) =>
          site.send(SESSION, text, promptId).then(
            () => void acknowledged.set(promptId, SESSION),
            // A caller that gives up: its prompt may be in the log or not.
            (error) => void gaveUp.set(promptId, error),
          );
        const { writer, phase, nth, provoke, withServer, meanwhile } = point;
        const first = site.startWorker({
          writer,
          phase,
          nth,
          ...(withServer ? { serverPid: site.server.pid } : {}),
        });
        await first.ready;
        const run = site.client.workflow.getHandle(`session:${SESSION}`);
        const sent: Promise<void>[] = [];
        if (provoke === 'cancel before a turn') {
          await site.client.workflow.start('agentTurn', {
            workflowId: run.workflowId,
            taskQueue: TASK_QUEUE,
            args: [{ sessionId: SESSION }],
          });
          await run.cancel();
        } else sent.push(send(PROMPTS[provoke], 'p1'));
        if (provoke === 'cancel' || provoke === 'terminate') {
          await sent[0];
          while (site.model.requests.length === 0) await sleep(20);
          if (provoke === 'cancel') await run.cancel();
          else {
            await run.terminate('crash test');
            sent.push(send('after the termination', 'p2'));
          }
        }
        expect(await first.ended).toBe('SIGKILL');
        if (withServer) await site.restartServer();
        hangs.now = false;
        if (meanwhile === 'prompt') sent.push(send('meanwhile', 'p3'));
        else await run.cancel().catch(() => undefined);
        await sleep(300);
        await site.startWorker().ready;
        await Promise.all(sent);
        await site.settled(acknowledged, SETTLE_MS);
        await site.runEnded(SESSION, SETTLE_MS);
        const { findings, reasons } = await site.audit(acknowledged);
        expect(findings).toEqual([]);
        // A crash alone ends no turn in another way than it would have ended.
        if (provoke === 'tools' && meanwhile === 'prompt')
          expect(Object.keys(reasons)).toEqual(['completed']);
        // Only a server that lost its last moment may leave a caller without an answer.
        if (!withServer) expect(gaveUp).toEqual(new Map());
        expect(gaveUp.get('p3')).toBeUndefined();
      } finally {
        await site.close();
      }
    },
  );
});

describe.concurrent('a caller that gave up', () => {
  it.for(['with an open turn', 'with nothing in the log'])(
    'after worker and server died %s, and never repeats: its prompt is answered or was never taken',
    { timeout: 240_000 },
    async (state) => {
      const site = await Site.open(inject('workflowBundle'), script({ now: false }));
      try {
        const logged = state === 'with an open turn';
        const phase = logged ? 'after' : 'before';
        const first = site.startWorker({ writer: 'preStep', phase, nth: 1, serverPid: site.server.pid });
        await first.ready;
        // A single attempt: nothing but the run itself can bring its prompt back to mind.
        const outcome = site.send(SESSION, 'use the tools', 'p1', { once: true }).catch((error) => error);
        expect(await first.ended).toBe('SIGKILL');
        expect(await outcome).toBeInstanceOf(Error);
        await site.restartServer();
        const restarted = performance.now();
        await site.startWorker().ready;
        await site.settled(new Map(), SETTLE_MS);
        await site.runEnded(SESSION, SETTLE_MS);
        const { findings, reasons, prompts } = await site.audit(new Map());
        expect(findings).toEqual([]);
        expect({ prompts, reasons }).toEqual(
          logged ? { prompts: 1, reasons: { completed: 1 } } : { prompts: 0, reasons: {} },
        );
        // It was the minute's rule that carried the turn on.
        expect(performance.now() - restarted).toBeGreaterThan(30_000);
      } finally {
        await site.close();
      }
    },
  );
});

describe('the test of the test', () => {
  let folder: string;
  let bundle: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'time-context-naive-'));
    const workflowsPath = fileURLToPath(new URL('./naive/workflow.ts', import.meta.url));
    const { code } = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') });
    bundle = join(folder, 'naive.js');
    await writeFile(bundle, code);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('shows the naive variant, where the workflow says what a step contains, to lose an accepted prompt', async () => {
    const site = await Site.open(bundle, () => ({ text: 'unused' }), { naive: true });
    try {
      const first = site.startWorker({ writer: 'preStep', phase: 'after', nth: 2 });
      await first.ready;
      const p1 = site.send(SESSION, 'first', 'p1');
      expect(await first.ended).toBe('SIGKILL');
      const p2 = site.send(SESSION, 'second', 'p2');
      await sleep(300);
      await site.startWorker().ready;
      expect(await p1).toMatchObject({ promptId: 'p1' });
      expect(await p2).toMatchObject({ promptId: 'p2' });
      await site.client.workflow.getHandle(`session:${SESSION}`).result();
      expect(naivePrompts(site.naivePath)).toEqual(['p1']);
    } finally {
      await site.close();
    }
  });
});
