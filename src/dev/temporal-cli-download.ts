import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { TemporalCliError } from './temporal-cli-error.ts';
import type { CliSource } from './temporal-cli-sources.ts';

const run = promisify(execFile);
const TEMPORARY = '.temporal-cli-';
/** A temporary directory of this age, in milliseconds, was left by a process that was killed. */
const ABANDONED_MS = 60 * 60 * 1000;

export interface CliDownload {
  /** Path that the executable gets in the end. */
  target: string;
  version: string;
  sources: readonly CliSource[];
  log: (line: string) => void;
  signal?: AbortSignal;
}

/**
 * Fetches the CLI from the first source that has it. The file appears at its target whole or not at all: it is made
 * and tried out in a temporary directory beside it and moved there, so processes that fetch at once only do it twice.
 * @throws TemporalCliError with what each source said
 */
export async function downloadCli({ target, version, sources, log, signal }: CliDownload): Promise<void> {
  const targetDir = dirname(target);
  const cacheDir = dirname(targetDir);
  const tried: string[] = [];
  try {
    await mkdir(targetDir, { recursive: true });
    await removeAbandoned(cacheDir);
    if (sources.length > 0) log(`The Temporal CLI is not here yet: fetching ${version}, once.`);
    for (const source of sources) {
      signal?.throwIfAborted();
      log(`  from ${source.name} …`);
      const directory = await mkdtemp(join(cacheDir, TEMPORARY));
      try {
        const binary = await source.fetch(directory, signal);
        await chmod(binary, 0o755);
        await run(binary, ['--version'], { timeout: 30_000 });
        await rename(binary, target);
        log(`  ready: ${target}`);
        return;
      } catch (error) {
        signal?.throwIfAborted();
        const why = lastLine(error);
        tried.push(`${source.name}: ${why}`);
        log(`  that failed: ${why.length > 100 ? `${why.slice(0, 100)}…` : why}`);
      } finally {
        await rm(directory, { recursive: true, force: true });
      }
    }
  } catch (error) {
    signal?.throwIfAborted();
    tried.push(`the cache ${cacheDir}: ${lastLine(error)}`);
  }
  throw new TemporalCliError(
    [
      'The Temporal CLI was not found and could not be fetched. Tried:',
      '  TEMPORAL_CLI_PATH: not set',
      '  PATH: no executable named temporal',
      `  the cache: no ${target}`,
      ...tried.map((line) => `  ${line}`),
      'Set TEMPORAL_CLI_PATH to a Temporal CLI that you installed, or TEMPORAL_ADDRESS to a server that runs.',
    ].join('\n'),
  );
}

async function removeAbandoned(cacheDir: string): Promise<void> {
  for (const name of await readdir(cacheDir)) {
    if (!name.startsWith(TEMPORARY)) continue;
    const path = join(cacheDir, name);
    const made = await stat(path).catch(() => null);
    if (made && Date.now() - made.mtimeMs > ABANDONED_MS) await rm(path, { recursive: true, force: true });
  }
}

/** Of a failed program what it last wrote to stderr: the lines before are its way there. */
function lastLine(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message: string };
  const lines = (stderr?.trim() || message).split('\n').filter((line) => line.trim() !== '');
  const line = (
    lines.findLast((candidate) => /error/i.test(candidate)) ??
    lines.at(-1) ??
    'no reason given'
  ).trim();
  return line.length > 300 ? `${line.slice(0, 300)}…` : line;
}
