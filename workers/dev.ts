/**
 * `npm start`: a Temporal dev server, the worker and a prompt in the terminal, in one process. Its data stand in
 * `.time-context/` of the folder that it is started in.
 */
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import type { Client } from '@temporalio/client';
import { Command, CommanderError } from 'commander';
import pino from 'pino';
import { CommandError, usageError } from '../src/cli/command-error.ts';
import { failureOf } from '../src/cli/failure.ts';
import { runRepl } from '../src/cli/repl.ts';
import { endOnClosedPipe, printable, Terminal } from '../src/cli/terminal.ts';
import { configuredAddress, connectClient, temporalConfig } from '../src/client/connect.ts';
import { readDevInstance, removeDevInstance, writeDevInstance } from '../src/client/dev-address.ts';
import { SESSION_ID } from '../src/contract.ts';
import { accepts, isFree } from '../src/dev/free-port.ts';
import { findTemporalCli } from '../src/dev/temporal-cli.ts';
import { type DevServer, startDevServer } from '../src/dev/temporal-server.ts';
import { openDatabase } from '../src/session/database.ts';
import { SessionLog } from '../src/session/session-log.ts';
import { type Settings, settingsFrom } from '../src/settings.ts';
import { type AgentWorker, createAgentWorker, logThrough } from './agent-worker.ts';
import { startFailure } from './start-failure.ts';

const FOLDER = '.time-context';
const WORKER_LOG = `${FOLDER}/worker.log`;
const SERVER_LOG = `${FOLDER}/temporal.log`;
const USUAL_PORT = 7233;
/** After the last word, connections may take this long to end. Milliseconds. */
const LETTING_GO_MS = 2_000;

const terminal = new Terminal();
endOnClosedPipe(process.stdout);
endOnClosedPipe(process.stderr);

try {
  const sessionId = sessionOption();
  const settings = settingsFrom(process.env);
  const running = await runningInstance();
  if (running) await join(running, sessionId, settings);
  else await start(sessionId, settings);
} catch (error) {
  fail(error);
}
setTimeout(() => process.exit(), LETTING_GO_MS).unref();

function sessionOption(): string {
  const { session } = new Command('npm start --')
    .description('a Temporal dev server, the worker and a prompt in the terminal')
    .option('--session <id>', 'the session to talk to', 'default')
    .allowExcessArguments(false)
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
    .parse()
    .opts<{ session: string }>();
  if (SESSION_ID.test(session)) return session;
  throw usageError(`--session is ${JSON.stringify(session)}; allowed: 1 to 128 of A-Z a-z 0-9 . _ -`);
}

function fail(error: unknown): void {
  if (error instanceof CommanderError) {
    if (error.exitCode !== 0) terminal.note(error.message);
    process.exitCode = error.exitCode === 0 ? 0 : 2;
    return;
  }
  const known = failureOf(error);
  const { message, exitCode } = known.stack
    ? startFailure(error)
    : { message: `error: ${known.message}`, exitCode: known.exitCode };
  terminal.note(printable(message));
  process.exitCode = exitCode;
}

/** The `npm start` that runs in this folder already, if it really does: after a reboot its pid may be another's. */
async function runningInstance(): Promise<{ address: string; pid: number } | undefined> {
  const found = readDevInstance();
  const port = Number(found?.address.split(':').at(-1));
  return found && (await accepts(port)) ? found : undefined;
}

async function join(
  { address, pid }: { address: string; pid: number },
  sessionId: string,
  settings: Settings,
): Promise<void> {
  terminal.line(`npm start runs in this folder already (process ${pid}, ${address}); this joins its worker.`);
  const client = await connectClient(address);
  try {
    await talk(client, sessionId, settings);
  } finally {
    await client.connection.close();
  }
}

async function start(sessionId: string, settings: Settings): Promise<void> {
  await mkdir(FOLDER, { recursive: true });
  const logger = pino({ level: process.env.LOG_LEVEL || 'info' }, pino.destination(WORKER_LOG));
  // Ctrl-C cancels a turn first, which needs the worker.
  logThrough(logger, []);
  const ending: (() => Promise<unknown>)[] = [];
  const broken = new AbortController();
  try {
    const server = await ownServer();
    if (server) {
      ending.push(() => server.stop());
      void server.exited.then(({ expected }) => {
        if (!expected) broken.abort(stopped('the Temporal dev server', SERVER_LOG));
      });
      terminal.line(`Temporal   dev server at ${server.address}, data in ${FOLDER}/`);
    } else terminal.line(`Temporal   ${temporalConfig().connection.address}`);
    const address = server?.address;
    const client = await connectClient(address);
    ending.push(() => client.connection.close());
    const agent = await createAgentWorker(settings, logger, address);
    ending.push(() => agent.close());
    const run = agent.worker.run().then(
      // Where this process is ending it, nobody listens any more.
      () => broken.abort(stopped('the worker', WORKER_LOG)),
      (error: Error) => broken.abort(stopped('the worker', WORKER_LOG, error.message)),
    );
    ending.push(() => stopWorker(agent, run));
    tellWorker(agent, settings);
    await writeDevInstance({ address: address ?? temporalConfig().connection.address, pid: process.pid });
    ending.push(removeDevInstance);
    await talk(client, sessionId, settings, broken.signal);
    broken.signal.throwIfAborted();
    terminal.line(terminal.style('dim', 'stopping …'));
  } finally {
    for (const end of ending.reverse()) await end();
    logger.flush();
  }
}

/** What ended under the conversation. */
function stopped(what: string, log: string, why?: string): CommandError {
  return new CommandError('stopped', `${what} stopped${why ? `: ${why}` : ''}; its log is ${log}`);
}

/** A server of our own, unless Temporal's configuration names one. */
async function ownServer(): Promise<DevServer | undefined> {
  if (configuredAddress() !== undefined) return undefined;
  const cliPath = await findTemporalCli({ log: (line) => terminal.line(line) });
  const output = createWriteStream(SERVER_LOG, { flags: 'a' });
  const server = await startDevServer({
    cliPath,
    dbFile: `${FOLDER}/temporal.db`,
    port: (await isFree(USUAL_PORT)) ? USUAL_PORT : 0,
    namespace: temporalConfig().namespace,
    log: (line) => output.write(`${line}\n`),
  });
  void server.exited.then(() => output.end());
  return server;
}

function tellWorker({ model, notes }: AgentWorker, settings: Settings): void {
  terminal.line(`Worker     ready on task queue ${settings.taskQueue}, its log in ${WORKER_LOG}`);
  if (settings.model) terminal.line(`Model      ${model.model} at ${model.baseURL}`);
  else {
    terminal.line('Model      offline: it answers from the readings alone, and is no language model.');
    terminal.line('           Set MODEL_BASE_URL, MODEL and MODEL_API_KEY for a real one.');
  }
  for (const note of notes) terminal.line(`Note       ${note}`);
}

async function stopWorker({ worker }: AgentWorker, run: Promise<void>): Promise<void> {
  if (worker.getState() === 'RUNNING') worker.shutdown();
  await run;
}

async function talk(
  client: Client,
  sessionId: string,
  settings: Settings,
  signal?: AbortSignal,
): Promise<void> {
  const log = new SessionLog(await openDatabase(settings.databaseUrl));
  try {
    if (process.stdin.isTTY) {
      terminal.line('Ask something, such as: What day is it tomorrow?  Ctrl-C ends.');
    }
    await runRepl({
      client,
      log,
      sessionId,
      taskQueue: settings.taskQueue,
      terminal,
      ...(signal ? { signal } : {}),
    });
  } finally {
    await log.close();
  }
}
