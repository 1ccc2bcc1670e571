import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { startCli, temporaryFolder } from './command-line.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

it('npx time-context works in a checkout without a network and with an empty cache', async () => {
  const cache = await temporaryFolder();
  const found = spawnSync('npx', ['time-context', '--version'], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, npm_config_cache: join(cache, 'npm'), npm_config_registry: 'http://127.0.0.1:1' },
  });
  expect(found.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect(found.status).toBe(0);
});

it('a reader that goes away ends a command quietly', async () => {
  const running = startCli(['--help']);
  running.child.stdout!.destroy();
  const { code, stderr } = await running.finished;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});
