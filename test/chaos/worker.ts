/**
 * The worker of a crash test, a process of its own: `node worker.ts <JSON of WorkerSpec>`. Prints `ready` when it
 * polls. At the commit that the spec names it ends itself with SIGKILL, the server first if the spec says so.
 */
import { appendFileSync } from 'node:fs';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { z } from 'zod';
import { TimeContextPlugin } from '../../src/plugin.ts';
import type { CommitHook } from '../../src/session/session-log.ts';
import { demoTools } from '../../src/tools/index.ts';
import { defineTool } from '../../src/tools/tool.ts';
import { naiveActivities } from './naive/activities.ts';

export interface CrashPoint {
  /** Writer as the log's commit hook names it. */
  writer: string;
  phase: 'before' | 'after';
  /** Its how-manieth commit of this process, from 1. */
  nth: number;
  /** Ended with the worker. */
  serverPid?: number;
}

export interface WorkerSpec {
  address: string;
  taskQueue: string;
  databaseUrl: string;
  modelURL: string;
  workflowBundle: string;
  /** Where the unsafe tool writes a line for each time it takes effect. */
  effectsFile: string;
  crash?: CrashPoint;
  naive?: boolean;
}

const spec = JSON.parse(process.argv[2]!) as WorkerSpec;

let seen = 0;
const onCommit: CommitHook = (writer, phase) => {
  const { crash } = spec;
  if (writer !== crash?.writer || phase !== crash.phase) return;
  seen += 1;
  if (seen !== crash.nth) return;
  if (crash.serverPid) process.kill(crash.serverPid, 'SIGKILL');
  process.kill(process.pid, 'SIGKILL');
};

/** Not declared safe: after a lost attempt it must not run again. */
const takeEffect = defineTool({
  name: 'take_effect',
  description: 'Takes effect once.',
  parameters: z.object({}),
  execute: async (_, { idempotencyKey }) => {
    appendFileSync(spec.effectsFile, `${idempotencyKey}\n`);
    return 'done';
  },
});

Runtime.install({ logger: new DefaultLogger('ERROR'), telemetryOptions: { logging: { filter: 'OFF' } } });
const connection = await NativeConnection.connect({ address: spec.address });
const worker = await Worker.create({
  connection,
  taskQueue: spec.taskQueue,
  workflowBundle: { codePath: spec.workflowBundle },
  ...(spec.naive
    ? { activities: naiveActivities(spec.databaseUrl.slice('file:'.length), onCommit) }
    : {
        plugins: [
          new TimeContextPlugin({
            databaseUrl: spec.databaseUrl,
            model: { baseURL: spec.modelURL, model: 'scripted', provider: 'scripted' },
            tools: [...demoTools, takeEffect],
            onCommit,
          }),
        ],
      }),
});
process.stdout.write('ready\n');
await worker.run();
