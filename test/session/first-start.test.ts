import { fork } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDatabase } from '../../src/session/database.ts';

const OPENER = fileURLToPath(new URL('./opener.ts', import.meta.url));
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'time-context-start-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const open = (path: string) =>
  fork(OPENER, [path], { execPath: process.execPath, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });

it('a first start that is killed anywhere leaves a database that the next one can use', {
  timeout: 120_000,
}, async () => {
  for (let round = 0; round < 12; round += 1) {
    const path = join(folder, `killed-${round}.db`);
    const child = open(path);
    const ended = new Promise((resolve) => child.once('exit', resolve));
    await new Promise((resolve) => child.once('message', resolve));
    await sleep(round * 3);
    child.kill('SIGKILL');
    await ended;
    await (await openDatabase(`file:${path}`)).destroy();
  }
});

it('processes that start at once on a new database all can use it', { timeout: 120_000 }, async () => {
  for (let round = 0; round < 4; round += 1) {
    const path = join(folder, `raced-${round}.db`);
    const children = [0, 1, 2].map(() => open(path));
    const codes = await Promise.all(
      children.map((child) => new Promise((resolve) => child.once('exit', resolve))),
    );
    expect(codes).toEqual([0, 0, 0]);
  }
});
