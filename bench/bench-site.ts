/** One server, one log, an instant model, and workers of any option, all in this process. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { z } from 'zod';
import { followPrompt } from '../src/client/answer.ts';
import { sendPrompt } from '../src/client/prompt.ts';
import { findTemporalCli } from '../src/dev/temporal-cli.ts';
import { startDevServer } from '../src/dev/temporal-server.ts';
import { type TimeContextOptions, TimeContextPlugin } from '../src/plugin.ts';
import { openDatabase } from '../src/session/database.ts';
import { SessionLog } from '../src/session/session-log.ts';
import { defineTool } from '../src/tools/tool.ts';
import { startScriptedModel, type WireRequest } from '../test/agent/scripted-model.ts';

export interface BenchSite {
  client: Client;
  log: SessionLog;
  /** Starts a worker and returns its task queue. */
  worker(options?: Partial<TimeContextOptions>): Promise<string>;
  /** Runs a turn of so many tool steps and one answer; returns its milliseconds, prompt to logged end. */
  turn(taskQueue: string, steps: number, sessionId?: string): Promise<number>;
  /** Runs the bare workflow with so many steps; returns its milliseconds. */
  bare(taskQueue: string, steps: number): Promise<number>;
  close(): Promise<void>;
}

const RESULT_BYTES = 4 * 1024;

export async function openBenchSite(): Promise<BenchSite> {
  Runtime.install({ logger: new DefaultLogger('ERROR'), telemetryOptions: { logging: { filter: 'OFF' } } });
  const folder = await mkdtemp(join(tmpdir(), 'time-context-bench-'));
  const server = await startDevServer({
    cliPath: await findTemporalCli(),
    dbFile: join(folder, 'temporal.db'),
  });
  const databaseUrl = `file:${join(folder, 'sessions.db')}`;
  const log = new SessionLog(await openDatabase(databaseUrl));
  const client = new Client({ connection: await Connection.connect({ address: server.address }) });
  const connection = await NativeConnection.connect({ address: server.address });
  const model = await startScriptedModel(instantModel);
  const workflowBundle = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('./workflows.ts', import.meta.url)),
    logger: new DefaultLogger('ERROR'),
  });
  const running: { worker: Worker; run: Promise<void> }[] = [];
  return {
    client,
    log,
    async worker(options = {}) {
      const taskQueue = `bench-${randomUUID()}`;
      const worker = await Worker.create({
        connection,
        taskQueue,
        workflowBundle,
        activities: {
          bareLocal: async () => undefined,
          bareModel: async () => undefined,
          bareTool: async () => undefined,
        },
        plugins: [
          new TimeContextPlugin({
            databaseUrl,
            model: { baseURL: model.baseURL, model: 'instant', provider: 'instant' },
            tools: [fourKilobytes],
            maxSteps: 10_000,
            ...options,
          }),
        ],
      });
      running.push({ worker, run: worker.run() });
      return taskQueue;
    },
    async turn(taskQueue, steps, sessionId = randomUUID()) {
      const started = performance.now();
      const { promptId } = await sendPrompt(client, { sessionId, taskQueue, text: `steps ${steps}` });
      for await (const _ of followPrompt(log, sessionId, promptId));
      await client.workflow.getHandle(`session:${sessionId}`).result();
      return performance.now() - started;
    },
    async bare(taskQueue, steps) {
      const started = performance.now();
      await client.workflow.execute('bareTurn', {
        taskQueue,
        workflowId: `bare:${randomUUID()}`,
        args: [steps],
      });
      return performance.now() - started;
    },
    async close() {
      for (const { worker, run } of running) {
        worker.shutdown();
        await run;
      }
      await model.close();
      await log.close();
      await connection.close();
      await client.connection.close();
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const fourKilobytes = defineTool({
  name: 'four_kilobytes',
  description: 'Answers 4 KB.',
  parameters: z.object({}),
  retry: 'safe',
  execute: async () => 'x'.repeat(RESULT_BYTES),
});

/** Calls the tool until the newest prompt's number of steps is reached, then answers. */
function instantModel({ messages }: WireRequest) {
  const asked = messages.findLastIndex(({ content }) => content?.startsWith('steps '));
  const steps = Number(messages[asked]!.content!.slice('steps '.length));
  const done =
    messages.length - asked - 1 === 0
      ? 0
      : messages.slice(asked).filter(({ role }) => role === 'tool').length;
  return done < steps - 1 ? { calls: [{ name: 'four_kilobytes', arguments: '{}' }] } : { text: 'done' };
}
