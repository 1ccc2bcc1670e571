/**
 * Records the histories of real runs: `node test/replay/record.ts RELEASE`. A released shape is recorded once and kept;
 * the file name says which release made it.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { WORKFLOWS_PATH } from '../../workers/agent-worker.ts';
import type { ScriptedAnswer, WireRequest } from '../agent/scripted-model.ts';
import { Site, TASK_QUEUE } from '../chaos/site.ts';

const ROOT = new URL('../../', import.meta.url).pathname;
const FOLDER = new URL('./histories/', import.meta.url).pathname;

type Scenario = (site: Site) => Promise<void>;

/** What the model does is said by the newest prompt. */
let hanging = false;
function script({ messages }: WireRequest): ScriptedAnswer {
  const asked = messages.findLastIndex(
    ({ role, content }) => role === 'user' && !content?.startsWith('Time sampled'),
  );
  const text = messages[asked]!.content!;
  if (text.includes('fail')) return { status: 401, body: JSON.stringify({ error: { message: 'bad key' } }) };
  if (text.includes('long answer')) return { text: 'cut', finish: 'length' };
  if (text.includes('hang') && hanging) return 'hang';
  const wanted = Number(/tools (\d)/.exec(text)?.[1] ?? 0);
  const done = messages.slice(asked).filter(({ role }) => role === 'tool').length;
  if (done >= wanted) return { text: 'done' };
  return {
    calls: [
      { name: 'convert_units', arguments: '{"value":1,"from":"km","to":"mile"}' },
      { name: 'no_such_tool', arguments: '{}' },
    ].slice(0, done === 0 ? 2 : 1),
  };
}

const S = 'recorded';
const run = (site: Site) => site.client.workflow.getHandle(`session:${S}`);
const finished = async (site: Site) => void (await run(site).result());

const scenarios: Record<string, Scenario> = {
  'one-step': async (site) => {
    await site.startWorker().ready;
    await site.send(S, 'hello', 'p1');
    await finished(site);
  },
  tools: async (site) => {
    await site.startWorker().ready;
    await site.send(S, 'tools 3', 'p1');
    await finished(site);
  },
  steering: async (site) => {
    await site.startWorker().ready;
    await site.send(S, 'tools 3', 'p1');
    await Promise.all(['p2', 'p3'].map((id) => site.send(S, 'tools 1', id)));
    await site.settled(
      new Map([
        ['p1', S],
        ['p2', S],
        ['p3', S],
      ]),
      30_000,
    );
    await finished(site);
  },
  'start-argument': async (site) => {
    await site.startWorker().ready;
    await site.client.workflow.start('agentTurn', {
      workflowId: `session:${S}`,
      taskQueue: TASK_QUEUE,
      args: [{ sessionId: S, prompt: { text: 'hello', timeZone: 'Europe/Berlin' } }],
    });
    await finished(site);
  },
  'worker-killed': async (site) => {
    const first = site.startWorker({ writer: 'callModel', phase: 'after', nth: 1 });
    await first.ready;
    await site.send(S, 'tools 1', 'p1');
    await first.ended;
    site.startWorker();
    await finished(site);
  },
  'no-prompt': async (site) => {
    await site.startWorker().ready;
    await site.client.workflow.start('agentTurn', {
      workflowId: `session:${S}`,
      taskQueue: TASK_QUEUE,
      args: [{ sessionId: S }],
    });
    await finished(site);
  },
  leftovers: async (site) => {
    const first = site.startWorker({ writer: 'preStep', phase: 'after', nth: 2 });
    await first.ready;
    const sent = site.send(S, 'hello', 'p1');
    await first.ended;
    const more = site.send(S, 'tools 1', 'p2');
    await sleep(300);
    site.startWorker();
    await Promise.all([sent, more]);
    await site.settled(
      new Map([
        ['p1', S],
        ['p2', S],
      ]),
      60_000,
    );
    await finished(site);
  },
  'failing-model': async (site) => {
    await site.startWorker().ready;
    await site.send(S, 'fail', 'p1');
    await finished(site);
  },
  'output-limit': async (site) => {
    await site.startWorker().ready;
    await site.send(S, 'a long answer', 'p1');
    await finished(site);
  },
  cancelled: async (site) => {
    await site.startWorker().ready;
    hanging = true;
    await site.send(S, 'hang', 'p1');
    while (site.model.requests.length === 0) await sleep(20);
    await run(site).cancel();
    await finished(site);
    hanging = false;
  },
  /** The server suggests a new run after this few events. */
  continued: async (site) => {
    await site.startWorker().ready;
    await site.send(S, 'tools 6', 'p1');
    await site.settled(new Map([['p1', S]]), 30_000);
    await finished(site);
  },
  'known-prompt': async (site) => {
    await site.startWorker().ready;
    for (const id of ['p1', 'p2', 'p1']) {
      await site.send(S, 'hello', id);
      await finished(site);
    }
  },
};

const [release, only] = process.argv.slice(2);
if (!release)
  throw new Error('give the release that is recorded, such as 0.1.0; then, if you like, one scenario');
const folder = await mkdtemp(join(tmpdir(), 'time-context-record-'));
try {
  const workflowBundle = join(folder, 'workflows.js');
  await writeFile(
    workflowBundle,
    (await bundleWorkflowCode({ workflowsPath: WORKFLOWS_PATH, logger: new DefaultLogger('ERROR') })).code,
  );
  for (const [name, scenario] of Object.entries(scenarios)) {
    if (only && only !== name) continue;
    const site = await Site.open(workflowBundle, script, {
      ...(name === 'continued' ? { dynamicConfig: { 'limit.historyCount.suggestContinueAsNew': 40 } } : {}),
    });
    try {
      await scenario(site);
      let index = 0;
      const runs = await Array.fromAsync(site.client.workflow.list({ query: `WorkflowId = "session:${S}"` }));
      for (const { runId } of runs.reverse()) {
        index += 1;
        const history = historyToJSON(
          await site.client.workflow.getHandle(`session:${S}`, runId).fetchHistory(),
        );
        const file = `${release}-${name}${runs.length > 1 ? `-${index}` : ''}.json`;
        await writeFile(join(FOLDER, file), `${anonymous(JSON.stringify(JSON.parse(history), null, 1))}\n`);
        process.stdout.write(`${file}: ${JSON.parse(history).events.length} events\n`);
      }
    } finally {
      await site.close();
    }
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** Leaves out where and by whom it was recorded: paths in stack traces, process and host in identities. */
function anonymous(json: string): string {
  return json
    .replaceAll(ROOT, '')
    .replaceAll(folder, '')
    .replace(/"\d+@[^"]*"/g, '"recorder"');
}
