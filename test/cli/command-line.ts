/** Runs the real command line, and `npm start`, as child processes in a folder of their own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
export const BIN = at('bin/time-context.js');
export const START = at('workers/dev.ts');

export interface RunOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** The whole standard input; absent: it stays open and empty. */
  input?: string | Buffer;
  uid?: number;
}

export interface Finished {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  ms: number;
}

/** A command that runs. */
export class Running {
  readonly child: ChildProcess;
  stdout = '';
  stderr = '';
  readonly finished: Promise<Finished>;

  constructor(args: readonly string[], { cwd, env = {}, input, uid }: RunOptions) {
    const begun = performance.now();
    this.child = spawn(process.execPath, args, {
      ...(cwd === undefined ? {} : { cwd }),
      env: { ...cleanEnvironment(), ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      ...(uid === undefined ? {} : { uid }),
    });
    this.child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
    });
    this.child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    // A command that refuses a long input goes away before it read it all.
    this.child.stdin!.on('error', () => undefined);
    if (input !== undefined) this.child.stdin!.end(input);
    this.finished = once(this.child, 'close').then(([code, signal]) => ({
      code,
      signal,
      stdout: this.stdout,
      stderr: this.stderr,
      ms: performance.now() - begun,
    }));
    onTestFinished(() => {
      this.child.kill('SIGKILL');
    });
  }

  /** Resolves when the output so far matches. */
  async until(pattern: RegExp, ms = 40_000): Promise<void> {
    const deadline = performance.now() + ms;
    while (!pattern.test(this.stdout) && !pattern.test(this.stderr)) {
      if (this.child.exitCode !== null || performance.now() > deadline) {
        throw new Error(`no ${pattern} in:\n${this.stdout}\n${this.stderr}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  type(line: string): void {
    this.child.stdin!.write(`${line}\n`);
  }
}

/** `time-context …` */
export function cli(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  return new Running([BIN, ...args], { input: '', ...options }).finished;
}

/** `time-context …`, while it runs. */
export function startCli(args: readonly string[], options: RunOptions = {}): Running {
  return new Running([BIN, ...args], options);
}

/** `npm start -- …` without npm. */
export function startDev(args: readonly string[], options: RunOptions): Running {
  return new Running([START, ...args], options);
}

/** A folder that is gone after the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'time-context-cli-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }));
  return folder;
}

/** This process's environment without anybody's settings: a test says what it sets. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const settings =
    /^(TEMPORAL_(?!CLI_PATH)|TIME_CONTEXT_|MODEL|DATABASE_URL$|NO_COLOR$|FORCE_COLOR$|TZ$|VITEST|NODE_)/;
  const kept = Object.entries(process.env).filter(([name]) => !settings.test(name));
  return { ...Object.fromEntries(kept), TZ: 'Europe/Berlin' };
}
