/**
 * The worker that people deploy. Temporal's own environment variables and configuration file say where the server is;
 * the table in `docs/configuration.md` has the rest. Ctrl-C or SIGTERM drains it.
 */
import pino from 'pino';
import { settingsFrom } from '../src/settings.ts';
import { createAgentWorker, logThrough } from './agent-worker.ts';
import { startFailure } from './start-failure.ts';

const logger = pino({ level: process.env.LOG_LEVEL || 'info' });

try {
  const settings = settingsFrom(process.env);
  logThrough(logger);
  const { worker, model, close } = await createAgentWorker(settings, logger);
  logger.info(
    { taskQueue: settings.taskQueue, database: settings.databaseUrl.split(':')[0], model: model.model },
    settings.model ? 'worker ready' : 'worker ready; no MODEL_BASE_URL is set, the offline model answers',
  );
  await worker.run();
  await close();
} catch (error) {
  const { message, exitCode } = startFailure(error);
  process.stderr.write(`${message}\n`);
  process.exitCode = exitCode;
  // A connection that hangs must not keep a worker that could not start.
  setTimeout(() => process.exit(exitCode), 2_000).unref();
}
