import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { dirname, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { takeFileLock } from './file-lock.ts';
import { accepts, freePort, isFree } from './free-port.ts';

export interface DevServerOptions {
  /** The Temporal CLI, as `findTemporalCli` answers it. */
  cliPath: string;
  /** Keeps the server's data, made where it is missing with its directories; absent: in memory. */
  dbFile?: string | undefined;
  /** Port on 127.0.0.1; 0 or absent takes a free one. */
  port?: number | undefined;
  /** Made at start; default `default`. */
  namespace?: string | undefined;
  /** The server's dynamic configuration, key by key. */
  dynamicConfig?: Record<string, string | number> | undefined;
  /** Gets each line that the server prints. */
  log?: ((line: string) => void) | undefined;
}

export interface DevServerExit {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** Whether `stop` or `kill` ended it. */
  expected: boolean;
  /** The last lines that it printed. */
  lines: string[];
}

export interface DevServer {
  /** Such as `127.0.0.1:23456`. */
  address: string;
  port: number;
  /** Of the server itself, not of a wrapper. */
  pid: number;
  /** Asks the server to end, after 10 s kills it, and waits for its end. May be called twice, and after `kill`. */
  stop(): Promise<void>;
  /** SIGKILL at once, as a crash. Await `exited` for its end. */
  kill(): void;
  exited: Promise<DevServerExit>;
}

/** The dev server cannot be started or did not answer; the message holds its last lines. */
export class DevServerError extends Error {
  override readonly name = 'DevServerError';
}

/** Its one shard is polled 20 times a second otherwise, and every task waits 50 ms. */
const DYNAMIC_CONFIG = { 'history.transferProcessorMaxPollRPS': 2000 };
const READY_MS = 30_000;
const STOP_MS = 10_000;
/** How long a predecessor on the same port or file may take to be gone. */
const HANDOVER_MS = 3_000;
const KEPT_LINES = 20;

/**
 * Starts a Temporal dev server on 127.0.0.1 and waits until it answers. A Ctrl-C in the terminal does not reach it, so
 * that its workers can end before it; and it never outlives this process, even where this one is killed. Starting it
 * again with the same file and port goes on with its data. POSIX systems only: it needs `sh`.
 * @throws DevServerError where the port or the file is in use, or the server ends or does not answer within 30 s
 */
export async function startDevServer(options: DevServerOptions): Promise<DevServer> {
  const dbFile = options.dbFile === undefined ? undefined : resolve(options.dbFile);
  const unlock = dbFile === undefined ? () => {} : await lockData(dbFile);
  try {
    for (let attempt = 1; ; attempt++) {
      const port = options.port || (await freePort());
      if (options.port && !(await within(HANDOVER_MS, () => isFree(port)))) {
        throw new DevServerError(
          `port ${port} on 127.0.0.1 is in use; stop what listens there or choose another port`,
        );
      }
      const server = launch(options, port, dbFile);
      try {
        await answers(server, options.namespace ?? 'default');
        void server.exited.then(unlock);
        return server;
      } catch (error) {
        server.kill();
        const { lines } = await server.exited;
        // It picks more free ports for its inner services, which somebody else may take before it does.
        if (attempt < 3 && lines.some((line) => /address already in use/i.test(line))) continue;
        const said = lines.length > 0 ? `Its last lines:\n${lines.join('\n')}` : 'It printed nothing.';
        throw new DevServerError(
          `the Temporal dev server did not start: ${(error as Error).message}. ${said}`,
          { cause: error },
        );
      }
    }
  } catch (error) {
    unlock();
    throw error;
  }
}

/** Two servers on one file would both serve its shard and lose what the other wrote. */
async function lockData(dbFile: string): Promise<() => void> {
  await mkdir(dirname(dbFile), { recursive: true });
  const unlock = await within(HANDOVER_MS, () => takeFileLock(`${dbFile}.lock`));
  if (unlock) return unlock;
  throw new DevServerError(
    `another process runs a Temporal dev server on ${dbFile}; stop it, or set TEMPORAL_ADDRESS to share its server`,
  );
}

/** Asks until the answer is neither false nor null, for so many milliseconds. */
async function within<T>(ms: number, ask: () => T | Promise<T>): Promise<T> {
  const deadline = Date.now() + ms;
  for (;;) {
    const answer = await ask();
    if (answer || Date.now() >= deadline) return answer;
    await sleep(50);
  }
}

/**
 * The shell becomes the server (`exec`), so that its pid is the server's. Before, it leaves a watcher behind that
 * waits for the end of the pipe on descriptor 3: nobody writes to it, and the system closes it when this process ends,
 * even by SIGKILL. The watcher is in the server's process group, which keeps that pid from being given away while it
 * lives, so it cannot hit a stranger.
 */
const GUARD = `
server=$$
( while read -r _; do :; done; kill -KILL "$server" ) <&3 >/dev/null 2>&1 &
exec "$@" 3<&-
`;

function launch(
  { cliPath, namespace, dynamicConfig, log }: DevServerOptions,
  port: number,
  dbFile: string | undefined,
): DevServer {
  const args = [
    'server',
    'start-dev',
    '--headless',
    '--ip',
    '127.0.0.1',
    '--port',
    `${port}`,
    '--log-level',
    'error',
  ];
  if (dbFile !== undefined) args.push('--db-filename', dbFile);
  if (namespace !== undefined && namespace !== 'default') args.push('--namespace', namespace);
  for (const [key, value] of Object.entries({ ...DYNAMIC_CONFIG, ...dynamicConfig })) {
    args.push('--dynamic-config-value', `${key}=${value}`);
  }

  const child = spawn('sh', ['-c', GUARD, 'temporal-dev-server', cliPath, ...args], {
    // A session of its own: signals of the terminal go to the session they belong to.
    detached: true,
    // What is meant for clients, such as TEMPORAL_NAMESPACE, is not meant for the server.
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('TEMPORAL_'))),
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    eachLine(stream as NodeJS.ReadableStream, (line) => {
      lines.push(line);
      if (lines.length > KEPT_LINES) lines.shift();
      log?.(line);
    });
  }

  let expected = false;
  const exited = new Promise<DevServerExit>((resolve) => {
    child.once('error', (error) => {
      lines.push(error.message);
      resolve({ code: null, signal: null, expected, lines });
    });
    // `close`, not `exit`: the last lines have arrived by then.
    child.once('close', (code, signal) => resolve({ code, signal, expected, lines }));
    child.once('exit', () => releaseGuard(child));
  });
  const send = (signal: NodeJS.Signals) => {
    expected = true;
    // False where it has ended already: Node sends nothing to a pid that is no longer its child's.
    child.kill(signal);
  };
  return {
    address: `127.0.0.1:${port}`,
    port,
    pid: child.pid ?? -1,
    exited,
    kill: () => send('SIGKILL'),
    async stop() {
      send('SIGTERM');
      const timer = setTimeout(() => send('SIGKILL'), STOP_MS);
      await exited;
      clearTimeout(timer);
    },
  };
}

/** The server is gone, so its watcher may go: it then finds nobody to kill. */
function releaseGuard(child: ChildProcess): void {
  (child.stdio[3] as Socket | null)?.destroy();
}

function eachLine(stream: NodeJS.ReadableStream, take: (line: string) => void): void {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    for (const line of parts) if (line.trim() !== '') take(line);
  });
  stream.on('end', () => {
    if (rest.trim() !== '') take(rest);
  });
}

/** Resolves when the server knows the namespace; rejects where it ends before, or after 30 s. */
async function answers({ address, port, exited }: DevServer, namespace: string): Promise<void> {
  const deadline = Date.now() + READY_MS;
  const ended = exited.then(({ code, signal }) => ({ ended: signal ?? `code ${code}` }));
  for (;;) {
    const outcome = await Promise.race([ended, asked(address, port, namespace)]);
    if (outcome === 'answered') return;
    if ('ended' in outcome) throw new Error(`it ended with ${outcome.ended}`);
    if (Date.now() > deadline) {
      throw new Error(`it did not answer within ${READY_MS / 1000} s (${outcome.failed})`);
    }
    await sleep(20);
  }
}

async function asked(
  address: string,
  port: number,
  namespace: string,
): Promise<'answered' | { failed: string }> {
  // A gRPC connection that is refused once waits a second before it tries again.
  if (!(await accepts(port))) return { failed: 'its port is closed' };
  try {
    const connection = await Connection.connect({ address, connectTimeout: 1000 });
    try {
      await connection.withDeadline(Date.now() + 1000, () =>
        connection.workflowService.describeNamespace({ namespace }),
      );
      return 'answered';
    } finally {
      await connection.close();
    }
  } catch (error) {
    return { failed: (error as Error).message };
  }
}
