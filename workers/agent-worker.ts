import { fileURLToPath } from 'node:url';
import { type LogLevel, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import type { Logger } from 'pino';
import { temporalConfig } from '../src/client/connect.ts';
import { startOfflineModel } from '../src/model/offline.ts';
import type { ModelSettings } from '../src/model/settings.ts';
import { TimeContextPlugin } from '../src/plugin.ts';
import { READING_NAMES, type Settings } from '../src/settings.ts';
import { demoTools } from '../src/tools/index.ts';

/** The workflows' module as the bundler reads it: the source in a checkout, the build in the package. */
export const WORKFLOWS_PATH = fileURLToPath(
  new URL(`../src/workflow/index${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url),
);

export interface AgentWorker {
  worker: Worker;
  model: ModelSettings;
  /** What the operator should be told once, at start; it is in the log too. */
  notes: readonly string[];
  /** Ends what the worker had opened. Call it after `worker.run()` returned. */
  close(): Promise<void>;
}

/**
 * Sends Temporal's own log lines to pino. Once a process, before anything else of Temporal.
 * @param shutdownSignals - what drains the workers; default those of the SDK, SIGINT and SIGTERM among them
 */
export function logThrough(logger: Logger, shutdownSignals?: NodeJS.Signals[]): void {
  Runtime.install({
    ...(shutdownSignals ? { shutdownSignals } : {}),
    logger: {
      log: (level, message, meta) => logger[pinoLevel(level)](meta ?? {}, message),
      trace: (message, meta) => logger.trace(meta ?? {}, message),
      debug: (message, meta) => logger.debug(meta ?? {}, message),
      info: (message, meta) => logger.info(meta ?? {}, message),
      warn: (message, meta) => logger.warn(meta ?? {}, message),
      error: (message, meta) => logger.error(meta ?? {}, message),
    },
  });
}

function pinoLevel(level: LogLevel) {
  return level.toLowerCase() as Lowercase<LogLevel>;
}

/**
 * The worker of the agent: configured by settings, with the demo tools, and with the offline model where no endpoint is
 * set. Bad settings throw before anything is connected.
 */
export async function createAgentWorker(
  settings: Settings,
  logger: Logger,
  defaultAddress?: string,
): Promise<AgentWorker> {
  const offline = settings.model ? undefined : await startOfflineModel();
  const closing: (() => Promise<void>)[] = offline ? [() => offline.close()] : [];
  const close = async () => {
    for (const end of closing.reverse()) await end();
  };
  try {
    const model = settings.model ?? { baseURL: offline!.baseURL, model: 'offline', provider: 'offline' };
    const plugin = new TimeContextPlugin({
      ...settings.reading,
      optionNames: READING_NAMES,
      databaseUrl: settings.databaseUrl,
      model,
      tools: demoTools,
    });
    for (const note of plugin.notes) logger.warn(note);
    const { connection: options, namespace } = temporalConfig(defaultAddress);
    const connection = await NativeConnection.connect(options);
    closing.push(() => connection.close());
    const worker = await Worker.create({
      connection,
      namespace,
      taskQueue: settings.taskQueue,
      workflowsPath: WORKFLOWS_PATH,
      plugins: [plugin],
      shutdownGraceTime: '5s',
    });
    return { worker, model, notes: plugin.notes, close };
  } catch (error) {
    await close();
    throw error;
  }
}
