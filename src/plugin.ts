/** The worker half: one plugin that gives a worker the activities of this package and the log behind them. */
import { SimplePlugin } from '@temporalio/plugin';
import type { Worker, WorkerOptions } from '@temporalio/worker';
import type { ActivityContext } from './activities/context.ts';
import { createActivities } from './activities/index.ts';
import type { ModelSettings } from './model/settings.ts';
import { type OptionNames, type ReadingOptions, readingSettings } from './reading/settings.ts';
import { openDatabase } from './session/database.ts';
import { type CommitHook, SessionLog } from './session/session-log.ts';
import type { AgentTool } from './tools/tool.ts';

export interface TimeContextOptions extends ReadingOptions {
  /** `file:<path>` for SQLite; default `file:.time-context/sessions.db`. */
  databaseUrl?: string;
  /** Which model answers. A worker that only makes readings needs none. */
  model?: ModelSettings;
  /** Tools that the model may call; default none. */
  tools?: readonly AgentTool[];
  /** Steps of a turn at most; default 100. */
  maxSteps?: number;
  /** How the reading options are called where they were set; error messages name them so. */
  optionNames?: OptionNames;
  /** Wall clock in epoch milliseconds, for tests and simulations. */
  now?: () => number;
  /** Told before and after each commit of the log, for crash tests. */
  onCommit?: CommitHook;
}

const ADDED = Symbol.for('temporal-time-context.activity');
const DEFAULT_MAX_STEPS = 100;

/**
 * `Worker.create({ plugins: [new TimeContextPlugin({ … })], workflowsPath, … })`. Bad options throw here, before any
 * connection is made; the database is opened when the worker is created and closed when it stopped.
 */
export class TimeContextPlugin extends SimplePlugin {
  readonly #options: TimeContextOptions;
  readonly #context: Omit<ActivityContext, 'log'>;
  #log: SessionLog | undefined;
  /** Workers that share the log: the last one to stop closes it. */
  #workers = 0;

  /** @throws SettingsError that names the option, its value and what is allowed */
  constructor(options: TimeContextOptions = {}) {
    super({ name: 'temporal-time-context' });
    this.#options = options;
    const { maxSteps = DEFAULT_MAX_STEPS } = options;
    if (!Number.isSafeInteger(maxSteps) || maxSteps < 1) {
      throw new RangeError(`maxSteps is ${String(maxSteps)}; allowed: whole numbers from 1 on`);
    }
    this.#context = {
      reading: readingSettings(
        options,
        { timeZone: Intl.DateTimeFormat('en-US').resolvedOptions().timeZone, tzdata: process.versions.tz },
        options.optionNames,
      ),
      ...(options.model ? { model: options.model } : {}),
      tools: options.tools ?? [],
      maxSteps,
    };
  }

  /** What the operator should be told once, at start: a process zone that is none, for instance. */
  get notes(): readonly string[] {
    return this.#context.reading.notes;
  }

  /**
   * Adds the activities. Given twice it adds them once.
   * @throws Error where another activity has one of their names; LogError where the database cannot be used
   */
  // biome-ignore lint/suspicious/noExplicitAny: the base class is synchronous, the worker awaits the hook
  override configureWorker(options: WorkerOptions): any {
    return this.#configure(options);
  }

  async #configure(options: WorkerOptions): Promise<WorkerOptions> {
    const present = (options.activities ?? {}) as Record<string, { [ADDED]?: true }>;
    if (Object.values(present).some((activity) => activity?.[ADDED])) return options;
    this.#log ??= new SessionLog(await openDatabase(this.#options.databaseUrl), {
      ...(this.#options.now ? { now: this.#options.now } : {}),
      ...(this.#options.onCommit ? { onCommit: this.#options.onCommit } : {}),
    });
    await this.#log.claimNamespace(options.namespace ?? 'default');
    const added = createActivities({ ...this.#context, log: this.#log });
    const clash = Object.keys(added).filter((name) => Object.hasOwn(present, name));
    if (clash.length > 0) {
      throw new Error(
        `the worker has activities named ${clash.join(', ')} already; temporal-time-context needs these names: rename yours`,
      );
    }
    this.#workers += 1;
    for (const activity of Object.values(added)) Object.assign(activity, { [ADDED]: true });
    return {
      // A cancel reaches an activity with its heartbeats; the default throttle would hold it back for eight seconds.
      maxHeartbeatThrottleInterval: '300ms',
      ...options,
      activities: { ...options.activities, ...added },
    };
  }

  override async runWorker(worker: Worker, next: (worker: Worker) => Promise<void>): Promise<void> {
    try {
      await next(worker);
    } finally {
      this.#workers -= 1;
      if (this.#workers <= 0) {
        await this.#log?.close();
        this.#log = undefined;
      }
    }
  }
}
