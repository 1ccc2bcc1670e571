import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Command } from 'commander';
import type { PromptOptions } from '../client/prompt.ts';
import type { ShownItem } from '../client/show.ts';
import type { PromptReceipt } from '../contract.ts';
import type { SessionLog } from '../session/session-log.ts';
import type { AnswerEnd, Listener } from './ask.ts';
import { CommandError, EXIT, usageError } from './command-error.ts';
import { onInterrupt } from './interrupt.ts';
import { promptFromStdin } from './prompt-text.ts';
import { printable, type Terminal } from './terminal.ts';

/** How long a worker that accepted the first prompt of a folder may take to make its database. Milliseconds. */
const DATABASE_MS = 10_000;

interface Options {
  session: string;
  timeZone?: string;
  promptId?: string;
  wait: boolean;
  timeout?: number;
  json?: true;
}

/** `prompt TEXT`: one prompt, and its answer. */
export function promptCommand(program: Command, terminal: Terminal): void {
  program
    .command('prompt')
    .description('send a prompt to a session and wait for the answer')
    .argument('<text>', 'the prompt, in quotes; - reads it from the standard input')
    .option('--session <id>', 'the session; it begins with its first prompt', 'default')
    .option('--time-zone <zone>', "IANA time zone of the prompt, or none; default this machine's")
    .option('--prompt-id <id>', 'the same id again changes nothing; default a new one')
    .option('--no-wait', 'leave once the prompt is accepted')
    .option('--timeout <seconds>', 'leave after so long; the turn goes on', seconds)
    .option('--json', 'print one JSON object')
    .action((text: string, options: Options) => run(terminal, text, options));
}

async function run(terminal: Terminal, given: string, options: Options): Promise<void> {
  const { sessionId, settings, withClient } = await import('./resources.ts');
  const { checkPrompt } = await import('../client/prompt.ts');
  const { randomUUID } = await import('node:crypto');
  const { databaseUrl, taskQueue } = settings();
  const prompt = {
    sessionId: sessionId(options.session),
    promptId: options.promptId ?? randomUUID(),
    clientTime: Date.now(),
    text: given === '-' ? await promptFromStdin() : given,
    taskQueue,
    ...(await zoneOf(options, terminal)),
  };
  checkPrompt(prompt);
  // A log that cannot be used is told of before anything is sent.
  let log = options.wait ? await openIfThere(databaseUrl) : undefined;
  try {
    await withClient(async (client) => {
      const asking = new Asking(terminal, client, prompt, options);
      try {
        const receipt = await asking.send();
        if (!options.wait) {
          if (options.json) terminal.line(JSON.stringify(receipt));
          return;
        }
        log ??= await openWhenThere(databaseUrl, asking.signal);
        await asking.follow(receipt, log);
      } finally {
        asking.close();
      }
    });
  } finally {
    await log?.close();
  }
}

async function zoneOf({ timeZone }: Options, terminal: Terminal): Promise<{ timeZone?: string }> {
  if (timeZone === 'none') return {};
  if (timeZone !== undefined) return { timeZone };
  const { localZone } = await import('./local-zone.ts');
  const { timeZone: local, note } = localZone();
  if (note !== undefined) terminal.note(note);
  return local === undefined ? {} : { timeZone: local };
}

/** One prompt on its way: what ends the waiting, and what is told meanwhile. */
class Asking {
  readonly #terminal: Terminal;
  readonly #client: Client;
  readonly #prompt: PromptOptions & { promptId: string };
  readonly #json: boolean;
  readonly #end = new AbortController();
  readonly #interrupt: { stop(): void };
  readonly #timer: NodeJS.Timeout | undefined;
  #receipt: PromptReceipt | undefined;
  #cancelled = false;

  constructor(
    terminal: Terminal,
    client: Client,
    prompt: PromptOptions & { promptId: string },
    { timeout, json }: Options,
  ) {
    this.#terminal = terminal;
    this.#client = client;
    this.#prompt = prompt;
    this.#json = json === true;
    this.#interrupt = onInterrupt((count) => void this.#interrupted(count));
    if (timeout !== undefined) {
      this.#timer = setTimeout(
        () => this.#leave('timeout', `after ${timeout} s`, EXIT.failed),
        timeout * 1_000,
      );
    }
  }

  get signal(): AbortSignal {
    return this.#end.signal;
  }

  async send(): Promise<PromptReceipt> {
    const { sendPatiently } = await import('./ask.ts');
    const receipt = await sendPatiently(
      this.#client,
      this.#prompt,
      this.#listener(() => {}),
      this.#end.signal,
    );
    this.#receipt = receipt;
    if (!this.#json) {
      const { sessionId, runId, promptId } = receipt;
      this.#terminal.line(
        this.#terminal.style('dim', `session ${sessionId}, turn run ${runId}, prompt ${promptId}`),
      );
    }
    return receipt;
  }

  async follow(receipt: PromptReceipt, log: SessionLog): Promise<void> {
    const { followAnswer } = await import('./ask.ts');
    const { TurnText } = await import('./turn-text.ts');
    const items: ShownItem[] = [];
    const text = new TurnText(this.#terminal, receipt.promptId);
    const listener = this.#listener((item) => {
      if (item.kind === 'prompt' && item.promptId === receipt.promptId) this.#compare(item.text);
      if (this.#json) items.push(item);
      else text.print(item);
    });
    const end = await followAnswer(this.#client, log, receipt, listener, this.#end.signal);
    await this.#finish(receipt, items, end);
  }

  /** A prompt id that the log knows changes nothing, whatever comes with it. */
  #compare(logged: string): void {
    if (logged === this.#prompt.text) return;
    const id = JSON.stringify(this.#prompt.promptId);
    this.#terminal.note(
      `prompt id ${id} stands in the log with another text, and nothing was changed; a new prompt needs a new id`,
    );
  }

  close(): void {
    this.#interrupt.stop();
    clearTimeout(this.#timer);
  }

  #listener(item: Listener['item']): Listener {
    const note = (text: string) => this.#terminal.note(this.#terminal.noteStyle('dim', printable(text)));
    return { item, note };
  }

  async #finish(receipt: PromptReceipt, items: ShownItem[], end: AnswerEnd): Promise<void> {
    const { turnFailure } = await import('./turn-failure.ts');
    const failure = turnFailure(end);
    const exitCode = failure ? (this.#cancelled ? EXIT.interrupted : EXIT.failed) : 0;
    if (this.#json) {
      this.#terminal.line(
        JSON.stringify({ ...answerOf(receipt, items, end), ...(failure ? { error: failure } : {}) }),
      );
      process.exitCode = exitCode;
    } else if (failure) throw new CommandError(failure.code, failure.message, exitCode);
  }

  async #interrupted(count: number): Promise<void> {
    if (count > 1 || !this.#receipt) {
      this.#leave('interrupted', 'with Ctrl-C', EXIT.interrupted);
      return;
    }
    this.#cancelled = true;
    this.#terminal.note('cancelling the turn; Ctrl-C again leaves');
    const { cancelTurn } = await import('../client/cancel.ts');
    await cancelTurn(this.#client, this.#prompt.sessionId).catch((error: Error) =>
      this.#terminal.note(`the turn could not be cancelled: ${error.message}`),
    );
  }

  #leave(code: string, why: string, exitCode: number): void {
    const { promptId, sessionId } = this.#prompt;
    const state = this.#receipt
      ? `the turn goes on, and time-context show ${sessionId} has its answer`
      : `no worker accepted the prompt, so it may or may not be answered later; --prompt-id ${promptId} sends the same prompt again`;
    this.#end.abort(new CommandError(code, `left ${why}: ${state}`, exitCode));
  }
}

function answerOf(receipt: PromptReceipt, items: ShownItem[], end: AnswerEnd) {
  const of = <K extends ShownItem['kind']>(kind: K) =>
    items.filter((item): item is Extract<ShownItem, { kind: K }> => item.kind === kind);
  const results = of('result');
  return {
    ...receipt,
    ...(end.kind === 'turn-end' ? { turn: end.turn, reason: end.reason } : {}),
    answer: of('assistant')
      .flatMap(({ text }) => (text === '' ? [] : [text]))
      .join('\n'),
    readings: of('reading').map(({ text, reading }) => ({ text, ...(reading ? { reading } : {}) })),
    calls: of('call').map(({ callId, name, arguments: args }) => {
      const at = results.findIndex((result) => result.callId === callId);
      const [result] = at === -1 ? [] : results.splice(at, 1);
      return {
        name,
        arguments: args,
        ...(result ? { result: result.text } : {}),
        ...(result?.error === undefined ? {} : { error: result.error }),
      };
    }),
  };
}

/** The log, or undefined where no worker of this folder made it yet. */
async function openIfThere(databaseUrl: string): Promise<SessionLog | undefined> {
  const { openDatabase } = await import('../session/database.ts');
  const { SessionLog } = await import('../session/session-log.ts');
  try {
    return new SessionLog(await openDatabase(databaseUrl, { create: false }));
  } catch (error) {
    if ((error as { code?: string }).code === 'database-missing') return undefined;
    throw error;
  }
}

/** The first worker of a folder makes the database: it may be a moment behind its first receipt. */
async function openWhenThere(databaseUrl: string, signal: AbortSignal): Promise<SessionLog> {
  const givenUp = performance.now() + DATABASE_MS;
  for (;;) {
    const log = await openIfThere(databaseUrl);
    if (log) return log;
    if (performance.now() > givenUp) {
      throw new CommandError(
        'database-missing',
        "the prompt is accepted and will be answered, but the worker's log is not the one that DATABASE_URL names here: set it as for the worker",
      );
    }
    signal.throwIfAborted();
    await sleep(100);
  }
}

function seconds(given: string): number {
  const value = Number(given);
  if (/^\d+(\.\d+)?$/.test(given) && value > 0 && value < 2 ** 31 / 1_000) return value;
  throw usageError(`--timeout is ${JSON.stringify(given)}; allowed: a number of seconds above 0`);
}
