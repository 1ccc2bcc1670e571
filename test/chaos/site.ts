/** One site of a crash test: its own Temporal server with a file, its own log, and workers that can be killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client, Connection, WorkflowNotFoundError } from '@temporalio/client';
import { sendPrompt } from '../../src/client/prompt.ts';
import type { LogEvent, PromptReceipt, TurnEndReason } from '../../src/contract.ts';
import { findTemporalCli } from '../../src/dev/temporal-cli.ts';
import { type DevServer, startDevServer } from '../../src/dev/temporal-server.ts';
import { openDatabase } from '../../src/session/database.ts';
import { SessionLog } from '../../src/session/session-log.ts';
import { verifyEvents } from '../../src/verify/verify.ts';
import { type Script, type ScriptedModel, startScriptedModel } from '../agent/scripted-model.ts';
import type { CrashPoint, WorkerSpec } from './worker.ts';

const WORKER = fileURLToPath(new URL('./worker.ts', import.meta.url));
export const TASK_QUEUE = 'chaos';

export interface WorkerProcess {
  pid: number;
  ready: Promise<void>;
  /** The signal or code that it ended with. */
  ended: Promise<string>;
  kill(signal: NodeJS.Signals): void;
}

export interface SiteOptions {
  /** Runs the naive variant's activities. */
  naive?: boolean;
  dynamicConfig?: Record<string, number>;
}

export class Site {
  server: DevServer;
  readonly client: Client;
  readonly log: SessionLog;
  readonly model: ScriptedModel;
  readonly folder: string;
  readonly #workflowBundle: string;
  readonly #naive: boolean;
  readonly #workers = new Set<ChildProcess>();

  private constructor(parts: {
    server: DevServer;
    client: Client;
    log: SessionLog;
    model: ScriptedModel;
    folder: string;
    bundle: string;
    naive: boolean;
  }) {
    this.server = parts.server;
    this.client = parts.client;
    this.log = parts.log;
    this.model = parts.model;
    this.folder = parts.folder;
    this.#workflowBundle = parts.bundle;
    this.#naive = parts.naive;
  }

  static async open(
    workflowBundle: string,
    script: Script,
    { naive = false, dynamicConfig }: SiteOptions = {},
  ): Promise<Site> {
    const folder = await mkdtemp(join(tmpdir(), 'time-context-chaos-'));
    const server = await startDevServer({
      cliPath: await findTemporalCli(),
      dbFile: join(folder, 'temporal.db'),
      dynamicConfig,
    });
    return new Site({
      server,
      folder,
      naive,
      bundle: workflowBundle,
      client: new Client({ connection: await Connection.connect({ address: server.address }) }),
      log: new SessionLog(await openDatabase(`file:${join(folder, 'sessions.db')}`)),
      model: await startScriptedModel(script),
    });
  }

  get naivePath(): string {
    return join(this.folder, 'naive.db');
  }

  /** Starts the server again on its port with its data, after it was killed. */
  async restartServer(): Promise<void> {
    await this.server.exited;
    this.server = await startDevServer({
      cliPath: await findTemporalCli(),
      dbFile: join(this.folder, 'temporal.db'),
      port: this.server.port,
    });
  }

  startWorker(crash?: CrashPoint): WorkerProcess {
    const spec: WorkerSpec = {
      address: this.server.address,
      taskQueue: TASK_QUEUE,
      databaseUrl: `file:${this.#naive ? this.naivePath : join(this.folder, 'sessions.db')}`,
      modelURL: this.model.baseURL,
      workflowBundle: this.#workflowBundle,
      effectsFile: join(this.folder, 'effects'),
      ...(crash ? { crash } : {}),
      ...(this.#naive ? { naive: true } : {}),
    };
    const child = spawn(process.execPath, [WORKER, JSON.stringify(spec)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#workers.add(child);
    const ended = new Promise<string>((resolve) =>
      child.once('exit', (code, signal) => {
        this.#workers.delete(child);
        resolve(signal ?? String(code));
      }),
    );
    return {
      pid: child.pid!,
      ended,
      ready: new Promise((resolve, reject) => {
        child.stdout!.once('data', () => resolve());
        child.once('exit', (code, signal) =>
          reject(new Error(`the worker ended before it was ready: ${signal ?? code}`)),
        );
      }),
      kill: (signal) => child.kill(signal),
    };
  }

  /** Sends a prompt; `once`: a single attempt, as a caller that gives up after an error. */
  send(sessionId: string, text: string, promptId: string, { once = false } = {}): Promise<PromptReceipt> {
    const retry = once ? { retry: false as const } : {};
    return sendPrompt(this.client, { sessionId, text, promptId, taskQueue: TASK_QUEUE, ...retry });
  }

  /** Waits until no turn stands open and all these prompts are logged. @throws Error that says what is missing */
  async settled(acknowledged: ReadonlyMap<string, string>, timeoutMs: number): Promise<void> {
    const until = Date.now() + timeoutMs;
    for (;;) {
      const missing = await this.#missing(acknowledged);
      if (missing.length === 0) return;
      if (Date.now() > until)
        throw new Error(`not settled after ${timeoutMs / 1000} s: ${missing.slice(0, 10).join('; ')}`);
      await sleep(200);
    }
  }

  /** Waits until the session's workflow has no run under way: none may wait for ever. */
  async runEnded(sessionId: string, timeoutMs: number): Promise<void> {
    const until = Date.now() + timeoutMs;
    for (;;) {
      const run = await this.client.workflow
        .getHandle(`session:${sessionId}`)
        .describe()
        .catch((error) => {
          // The server lost the start with the rest of its last moment.
          if (error instanceof WorkflowNotFoundError) return undefined;
          throw error;
        });
      if (run?.status.name !== 'RUNNING') return;
      if (Date.now() > until) throw new Error(`the run of ${sessionId} did not end in ${timeoutMs / 1000} s`);
      await sleep(200);
    }
  }

  async #missing(acknowledged: ReadonlyMap<string, string>): Promise<string[]> {
    const open = (await this.log.sessions())
      .filter((session) => session.open)
      .map(({ sessionId }) => `session ${sessionId} has an open turn`);
    const lost = [];
    for (const [promptId, sessionId] of acknowledged) {
      if (!(await this.log.promptPlace(sessionId, promptId)))
        lost.push(`prompt ${promptId} of ${sessionId} is not in the log`);
    }
    return [...open, ...lost];
  }

  /** The audit: what must hold of a log after any crash. Returns what does not, and the figures. */
  async audit(acknowledged: ReadonlyMap<string, string>): Promise<{
    findings: string[];
    prompts: number;
    turns: number;
    readings: number;
    events: number;
    reasons: Record<string, number>;
  }> {
    const findings: string[] = [];
    const figures = { prompts: 0, turns: 0, readings: 0, events: 0 };
    const reasons: Record<string, number> = {};
    const places = new Map<string, number>();
    for (const { sessionId } of await this.log.sessions()) {
      const events: LogEvent[] = await Array.fromAsync(this.log.events(sessionId));
      const verified = await verifyEvents(await this.log.header(sessionId), events, { closed: true });
      for (const problem of verified.problems) findings.push(`${sessionId}: ${JSON.stringify(problem)}`);
      figures.events += events.length;
      figures.turns += verified.turns;
      figures.readings += verified.readings;
      let answered = true;
      for (const { type, data } of events) {
        const { prompt, source, reason } = data as {
          prompt?: unknown;
          source?: { rpcId: string };
          reason?: TurnEndReason;
        };
        if (type === 'user/message' && prompt) {
          places.set(source!.rpcId, (places.get(source!.rpcId) ?? 0) + 1);
          answered = false;
        }
        if (type === 'assistant/message') answered = true;
        if (type !== 'turn/end') continue;
        reasons[reason!.kind] = (reasons[reason!.kind] ?? 0) + 1;
        if (reason!.kind === 'completed' && !answered)
          findings.push(`${sessionId}: a turn completed with a prompt unanswered`);
      }
    }
    figures.prompts = places.size;
    for (const [promptId, count] of places)
      if (count !== 1) findings.push(`prompt ${promptId} stands ${count} times`);
    for (const promptId of acknowledged.keys())
      if (!places.has(promptId)) findings.push(`prompt ${promptId} was acknowledged and is lost`);
    for (const [key, count] of countLines(join(this.folder, 'effects'))) {
      if (count > 1) findings.push(`the unsafe tool took effect ${count} times for call ${key}`);
    }
    return { findings, ...figures, reasons };
  }

  async close(): Promise<void> {
    for (const worker of this.#workers) worker.kill('SIGKILL');
    await this.client.connection.close();
    await this.log.close();
    await this.model.close();
    this.server.kill();
    await this.server.exited;
    await rm(this.folder, { recursive: true, force: true });
  }
}

function countLines(path: string): Map<string, number> {
  const counts = new Map<string, number>();
  if (!existsSync(path)) return counts;
  for (const line of readFileSync(path, 'utf8').split('\n').filter(Boolean))
    counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}
