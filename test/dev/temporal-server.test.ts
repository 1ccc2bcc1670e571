import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { accepts, freePort } from '../../src/dev/free-port.ts';
import { findTemporalCli } from '../../src/dev/temporal-cli.ts';
import {
  type DevServer,
  DevServerError,
  type DevServerOptions,
  startDevServer,
} from '../../src/dev/temporal-server.ts';

let cliPath: string;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'temporal-server-'));
  cliPath = await findTemporalCli();
}, 300_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

const running: DevServer[] = [];
async function start(options: Partial<DevServerOptions> = {}): Promise<DevServer> {
  const server = await startDevServer({ cliPath, ...options });
  running.push(server);
  return server;
}
afterEach(async () => {
  for (const server of running.splice(0)) {
    server.kill();
    await server.exited;
  }
});

async function withClient<T>(
  { address }: { address: string },
  namespace: string,
  use: (client: Client) => Promise<T>,
) {
  const connection = await Connection.connect({ address });
  try {
    return await use(new Client({ connection, namespace }));
  } finally {
    await connection.close();
  }
}

const startWorkflow = (client: Client, workflowId: string) =>
  client.workflow.start('anyWorkflow', { taskQueue: 'nobody', workflowId, args: [{ a: 1 }] });

async function historyTypes(client: Client, workflowId: string) {
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  return events!.map(({ eventId }) => `${eventId}`);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function gone(pid: number): Promise<void> {
  for (let waited = 0; isAlive(pid); waited += 50) {
    if (waited > 10_000) throw new Error(`process ${pid} still runs`);
    await sleep(50);
  }
}

describe('with a file', () => {
  it.each(['stop', 'kill'] as const)('goes on where %s ended it, on the same port', async (how) => {
    const dbFile = join(folder, 'made', `${how}.db`);
    const first = await start({ dbFile });
    await withClient(first, 'default', (client) => startWorkflow(client, 'w1'));
    if (how === 'stop') await first.stop();
    else first.kill();

    // Without waiting for `exited`: what a restart script does.
    const second = await start({ dbFile, port: first.port });
    expect(second.address).toBe(first.address);
    expect(second.pid).not.toBe(first.pid);
    expect(isAlive(first.pid)).toBe(false);
    expect(await first.exited).toMatchObject({ expected: true, signal: how === 'kill' ? 'SIGKILL' : null });
    await withClient(second, 'default', async (client) => {
      expect(await historyTypes(client, 'w1')).toHaveLength(2);
      expect((await client.workflow.getHandle('w1').describe()).status.name).toBe('RUNNING');
      await startWorkflow(client, 'w2');
    });
    await second.stop();
    await second.stop();
  });

  it('is refused to a second server', async () => {
    const dbFile = join(folder, 'shared.db');
    await start({ dbFile });
    await expect(start({ dbFile })).rejects.toThrow(
      /another process runs a Temporal dev server on .*shared\.db; stop it/,
    );
  });
});

describe('without a file', () => {
  it('serves its namespace, ready at once', async () => {
    const lines: string[] = [];
    const server = await start({ namespace: 'mine', log: (line) => lines.push(line) });
    expect(isAlive(server.pid)).toBe(true);
    await withClient(server, 'mine', (client) => startWorkflow(client, 'w'));
    await withClient(server, 'default', (client) => startWorkflow(client, 'w'));
    await server.stop();
    expect(await accepts(server.port)).toBe(false);
    expect(lines.join('\n')).toContain('Temporal');
  });

  it('tells its unexpected end', async () => {
    const server = await start();
    process.kill(server.pid, 'SIGKILL');
    expect(await server.exited).toMatchObject({ expected: false, signal: 'SIGKILL' });
    await server.stop();
  });
});

describe('a start that fails', () => {
  it('names a port that is in use', async () => {
    const holder = createServer().listen(await freePort(), '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as { port: number };
    await expect(start({ port })).rejects.toThrow(`port ${port} on 127.0.0.1 is in use`);
    holder.close();
  });

  it('holds the last lines of the server', async () => {
    const dbFile = join(folder, 'no-database.db');
    await rm(dbFile, { force: true });
    const starting = start({ cliPath: join(folder, 'no-such-cli') });
    await expect(starting).rejects.toBeInstanceOf(DevServerError);
    await expect(starting).rejects.toThrow(/ended with code 127.*no-such-cli/s);
    // A directory is no database file.
    await expect(start({ dbFile: folder })).rejects.toThrow(
      /did not start: it ended with code 1\. Its last lines:\n/,
    );
  });

  it('gives the file back', async () => {
    const dbFile = join(folder, 'again.db');
    await expect(start({ cliPath: join(folder, 'no-such-cli'), dbFile })).rejects.toThrow();
    await start({ dbFile });
  });
});

describe('and the process that started it', () => {
  async function startParent(name: string) {
    const script = new URL('./server-parent.ts', import.meta.url).pathname;
    const dbFile = join(folder, `${name}.db`);
    const parent = spawn(process.execPath, [script, cliPath, dbFile], {
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = await once(parent.stdout!.setEncoding('utf8'), 'data');
    const { pid, port } = JSON.parse(line) as { pid: number; port: number };
    return { parent, pid, port, dbFile };
  }

  it.each(['SIGKILL', 'SIGTERM', 'SIGINT'] as const)(
    'ends with it on %s, and can be started again',
    async (signal) => {
      const { parent, pid, port, dbFile } = await startParent(signal);
      expect(isAlive(pid)).toBe(true);
      parent.kill(signal);
      await once(parent, 'exit');
      await gone(pid);
      await start({ dbFile, port });
    },
  );

  it('is not reached by a Ctrl-C, which goes to the process group', async () => {
    const { parent, pid } = await startParent('group');
    // Stopped first, the parent cannot end, and so not end the server either.
    process.kill(parent.pid!, 'SIGSTOP');
    process.kill(-parent.pid!, 'SIGINT');
    await sleep(500);
    expect(isAlive(pid)).toBe(true);
    process.kill(parent.pid!, 'SIGKILL');
    await gone(pid);
  });
});
