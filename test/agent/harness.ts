/** A whole agent for one test file: worker, log and scripted model, against the run's Temporal server. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker, type WorkerOptions } from '@temporalio/worker';
import { expect, inject } from 'vitest';
import { followPrompt } from '../../src/client/answer.ts';
import { type PromptOptions, sendPrompt } from '../../src/client/prompt.ts';
import type { AssistantMessage, LogEvent, PromptReceipt, UserMessage } from '../../src/contract.ts';
import { type TimeContextOptions, TimeContextPlugin } from '../../src/plugin.ts';
import { openDatabase } from '../../src/session/database.ts';
import { SessionLog } from '../../src/session/session-log.ts';
import { verifyEvents } from '../../src/verify/verify.ts';
import { type Script, type ScriptedModel, startScriptedModel } from './scripted-model.ts';

Runtime.install({ logger: new DefaultLogger('ERROR') });

export interface HarnessOptions extends Omit<TimeContextOptions, 'model' | 'databaseUrl'> {
  script?: Script;
  model?: Partial<NonNullable<TimeContextOptions['model']>>;
  worker?: Partial<WorkerOptions>;
  /** Starts no worker; the test does, with `startWorker`. */
  idle?: boolean;
}

export interface RunningWorker {
  stop(): Promise<void>;
}

export class Harness {
  readonly client: Client;
  readonly log: SessionLog;
  readonly model: ScriptedModel;
  readonly databaseUrl: string;
  readonly taskQueue: string;
  /** Sessions of this harness are its own on a server that others use too. */
  readonly #prefix = randomUUID().slice(0, 8);
  readonly #options: HarnessOptions;
  readonly #folder: string;
  readonly #native: NativeConnection;
  readonly #workers = new Set<RunningWorker>();

  private constructor(parts: {
    client: Client;
    native: NativeConnection;
    log: SessionLog;
    model: ScriptedModel;
    databaseUrl: string;
    folder: string;
    options: HarnessOptions;
  }) {
    this.client = parts.client;
    this.#native = parts.native;
    this.log = parts.log;
    this.model = parts.model;
    this.databaseUrl = parts.databaseUrl;
    this.#folder = parts.folder;
    this.#options = parts.options;
    this.taskQueue = `test-${randomUUID()}`;
  }

  static async start(options: HarnessOptions = {}): Promise<Harness> {
    const folder = await mkdtemp(join(tmpdir(), 'time-context-'));
    const databaseUrl = `file:${join(folder, 'sessions.db')}`;
    const address = inject('temporalAddress');
    const harness = new Harness({
      client: new Client({ connection: await Connection.connect({ address }) }),
      native: await NativeConnection.connect({ address }),
      log: new SessionLog(await openDatabase(databaseUrl), options.now ? { now: options.now } : {}),
      model: await startScriptedModel(options.script ?? (() => ({ text: 'ok' }))),
      databaseUrl,
      folder,
      options,
    });
    if (!options.idle) await harness.startWorker();
    return harness;
  }

  /** Starts a worker on the harness's queue; options given here win over the harness's. */
  async startWorker(
    overrides: Partial<TimeContextOptions> & { worker?: Partial<WorkerOptions> } = {},
  ): Promise<RunningWorker> {
    const { script: _s, model, worker: workerOptions, idle: _i, ...options } = this.#options;
    const { worker: workerOverrides, ...pluginOverrides } = overrides;
    const plugin = new TimeContextPlugin({
      ...options,
      databaseUrl: this.databaseUrl,
      model: { baseURL: this.model.baseURL, model: 'scripted', provider: 'scripted', ...model },
      ...pluginOverrides,
    });
    const worker = await Worker.create({
      connection: this.#native,
      taskQueue: this.taskQueue,
      workflowBundle: { codePath: inject('workflowBundle') },
      plugins: [plugin],
      shutdownGraceTime: '2s',
      ...workerOptions,
      ...workerOverrides,
    });
    const run = worker.run();
    const running: RunningWorker = {
      stop: async () => {
        this.#workers.delete(running);
        worker.shutdown();
        await run;
      },
    };
    this.#workers.add(running);
    return running;
  }

  /** The full id of a session that a test calls by a short name. */
  id(session: string): string {
    return `${this.#prefix}-${session}`;
  }

  /** The workflow of a session. */
  run(session: string) {
    return this.client.workflow.getHandle(`session:${this.id(session)}`);
  }

  /** Sends a prompt and returns its receipt. */
  send(session: string, text: string, options: Partial<PromptOptions> = {}): Promise<PromptReceipt> {
    return sendPrompt(this.client, {
      text,
      taskQueue: this.taskQueue,
      ...options,
      sessionId: options.sessionId ?? this.id(session),
    });
  }

  /** Sends a prompt and waits for the end of its turn. */
  async ask(
    session: string,
    text: string,
    options: Partial<PromptOptions> = {},
  ): Promise<{ receipt: PromptReceipt; events: LogEvent[]; answer: string }> {
    const receipt = await this.send(session, text, options);
    const events = await this.turnOf(receipt);
    return { receipt, events, answer: answerIn(events) };
  }

  /** The events of a prompt's turn from the prompt on, once it ended. */
  async turnOf({ sessionId, promptId }: PromptReceipt): Promise<LogEvent[]> {
    const events: LogEvent[] = [];
    for await (const event of followPrompt(this.log, sessionId, promptId, AbortSignal.timeout(50_000)))
      events.push(event);
    return events;
  }

  async events(session: string): Promise<LogEvent[]> {
    return Array.fromAsync(this.log.events(this.id(session)));
  }

  /** Verifies every session of the log. Called by `close`, so that every test ends in it. */
  async verifyAll({ closed = true } = {}): Promise<void> {
    for (const { sessionId } of await this.log.sessions()) {
      const { problems } = await verifyEvents(await this.log.header(sessionId), this.log.events(sessionId), {
        closed,
      });
      expect(problems, `verify ${sessionId}`).toEqual([]);
    }
  }

  async close(options: { closed?: boolean } = {}): Promise<void> {
    try {
      await this.verifyAll(options);
    } finally {
      for (const worker of [...this.#workers]) await worker.stop();
      await this.model.close();
      await this.log.close();
      await this.client.connection.close();
      await this.#native.close();
      await rm(this.#folder, { recursive: true, force: true });
    }
  }
}

/** All text that the assistant said in these events. */
export function answerIn(events: readonly LogEvent[]): string {
  return events
    .filter(({ type }) => type === 'assistant/message')
    .flatMap(({ data }) => (data as { message: AssistantMessage }).message.content)
    .flatMap((block) => (block.type === 'text' ? [block.text] : []))
    .join('\n');
}

export function readingsIn(events: readonly LogEvent[]): UserMessage[] {
  return events
    .filter(({ type, data }) => type === 'user/message' && (data as UserMessage).reading)
    .map(({ data }) => data as UserMessage);
}

/** The text of a reading. */
export function textOf(message: UserMessage | undefined): string {
  return message?.content[0]?.text ?? '';
}
