/** The prompt in the terminal: `npm start` and `chat`. */
import { randomUUID } from 'node:crypto';
import { createInterface, type Interface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { Client } from '@temporalio/client';
import { followTurn } from '../client/answer.ts';
import { cancelTurn, turnRuns } from '../client/cancel.ts';
import type { SessionLog } from '../session/session-log.ts';
import { type AnswerEnd, followAnswer, followEvents, type Listener, sendPatiently } from './ask.ts';
import { counted } from './counted.ts';
import { failureOf } from './failure.ts';
import { onInterrupt } from './interrupt.ts';
import { localZone } from './local-zone.ts';
import { oneLine, printable, type Terminal } from './terminal.ts';
import { turnFailure } from './turn-failure.ts';
import { TurnText } from './turn-text.ts';

export interface ReplOptions {
  client: Client;
  log: SessionLog;
  sessionId: string;
  taskQueue: string;
  terminal: Terminal;
  /** Ends the prompt as `/exit` does. */
  signal?: AbortSignal;
}

const LEAVE = new Set(['/exit', '/quit']);

/**
 * Reads prompts and shows their answers until the user leaves: Ctrl-C or Ctrl-D at the prompt, `/exit`, or the end of
 * the input. Ctrl-C during an answer cancels its turn, and again leaves at once.
 */
export async function runRepl(options: ReplOptions): Promise<void> {
  const { terminal, log, sessionId } = options;
  const state = await log.read((tx) => tx.session(sessionId));
  const { timeZone, note } = localZone();
  if (note !== undefined) terminal.note(note);
  terminal.line(`(session ${sessionId}, ${counted(state?.turn ?? 0, 'turn')} so far)`);
  const repl = new Repl(options, timeZone);
  try {
    if (state?.turnOpen) await repl.finishOpenTurn(state.nextSeq);
    await repl.run();
  } finally {
    repl.close();
  }
}

class Repl {
  readonly #options: ReplOptions;
  readonly #timeZone: string | undefined;
  readonly #screen = new Screen();
  readonly #lines: Interface;
  readonly #queue: string[] = [];
  readonly #interrupt: { stop(): void; press(): void };
  #ended = false;
  /** Told when a line came or no more will. */
  #wake: () => void = () => {};
  /** The answer that is being waited for. */
  #waiting: { end: AbortController; cancelled: boolean } | undefined;
  readonly #terminate = () => this.#leave();

  constructor(options: ReplOptions, timeZone: string | undefined) {
    this.#options = options;
    this.#timeZone = timeZone;
    this.#lines = createInterface({
      input: process.stdin,
      output: this.#screen,
      terminal: this.#interactive,
      prompt: '> ',
    });
    this.#lines.on('line', (line) => {
      this.#queue.push(line);
      this.#wake();
    });
    this.#lines.on('close', () => {
      this.#ended = true;
      this.#wake();
    });
    this.#interrupt = onInterrupt(() => this.#interrupted());
    this.#lines.on('SIGINT', this.#interrupt.press);
    process.on('SIGTERM', this.#terminate);
    process.on('SIGHUP', this.#terminate);
    options.signal?.addEventListener('abort', this.#terminate, { once: true });
  }

  get #interactive(): boolean {
    return process.stdin.isTTY === true && process.stdout.isTTY === true;
  }

  async run(): Promise<void> {
    for (let line = await this.#nextLine(); line !== undefined; line = await this.#nextLine()) {
      const text = line.trim();
      if (text === '') continue;
      if (LEAVE.has(text)) return;
      if (!this.#interactive) this.#options.terminal.line(`> ${printable(text)}`);
      await this.#answer(text);
    }
  }

  /** A turn that was open when the last process ended is carried on by the worker: its rest is shown. */
  async finishOpenTurn(fromSeq: number): Promise<void> {
    const { client, log, sessionId, terminal } = this.#options;
    if (!(await turnRuns(client, sessionId))) return;
    terminal.line(terminal.style('dim', '  the last turn is not finished; it goes on'));
    await this.#wait((signal) =>
      followEvents(client, sessionId, followTurn(log, sessionId, fromSeq, signal), this.#listener()),
    );
  }

  close(): void {
    this.#interrupt.stop();
    process.removeListener('SIGTERM', this.#terminate);
    process.removeListener('SIGHUP', this.#terminate);
    this.#options.signal?.removeEventListener('abort', this.#terminate);
    this.#screen.muted = true;
    this.#lines.close();
    process.stdin.unref?.();
  }

  async #nextLine(): Promise<string | undefined> {
    if (this.#queue.length === 0 && !this.#ended) {
      if (this.#interactive) {
        this.#screen.muted = false;
        this.#lines.prompt(true);
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      // What is typed while an answer comes would stand in the middle of it: it is shown with the next prompt.
      this.#screen.muted = true;
    } else if (this.#queue.length > 0 && this.#interactive) {
      // Typed while the last answer came.
      this.#options.terminal.line(`> ${printable(this.#queue[0]!)}`);
    }
    const line = this.#queue.shift();
    if (line === undefined && this.#interactive) this.#options.terminal.line();
    return line;
  }

  async #answer(text: string): Promise<void> {
    const { client, log, sessionId, taskQueue } = this.#options;
    const promptId = randomUUID();
    const prompt = {
      sessionId,
      promptId,
      text,
      taskQueue,
      clientTime: Date.now(),
      ...(this.#timeZone === undefined ? {} : { timeZone: this.#timeZone }),
    };
    const listener = this.#listener(promptId);
    await this.#wait(async (signal) => {
      const receipt = await sendPatiently(client, prompt, listener, signal);
      return followAnswer(client, log, receipt, listener, signal);
    });
  }

  async #wait(answer: (signal: AbortSignal) => Promise<AnswerEnd>): Promise<void> {
    const waiting = { end: new AbortController(), cancelled: false };
    this.#waiting = waiting;
    try {
      const failure = turnFailure(await answer(waiting.end.signal));
      if (failure) this.#tell(failure.message);
    } catch (error) {
      if (waiting.end.signal.aborted) return;
      this.#tell(failureOf(error).message);
    } finally {
      this.#waiting = undefined;
    }
  }

  #listener(promptId?: string): Listener {
    const { terminal } = this.#options;
    const text = new TurnText(terminal, promptId);
    return {
      item: (item) => text.print(item),
      note: (line) => terminal.note(terminal.noteStyle('dim', `  ${oneLine(line, 1_000)}`)),
    };
  }

  #tell(message: string): void {
    const { terminal } = this.#options;
    terminal.note(terminal.noteStyle('yellow', printable(message)));
  }

  #interrupted(): void {
    const { client, sessionId, terminal } = this.#options;
    const waiting = this.#waiting;
    if (!waiting || waiting.cancelled) {
      this.#leave();
      return;
    }
    waiting.cancelled = true;
    // Nobody is there to type the next prompt: the one signal means both.
    if (!this.#interactive) this.#end();
    terminal.note(terminal.noteStyle('dim', '  cancelling the turn; Ctrl-C again leaves'));
    void cancelTurn(client, sessionId).catch((error: unknown) => this.#tell(failureOf(error).message));
  }

  /** Leaves at once; a turn that runs goes on with the next worker. */
  #leave(): void {
    this.#end();
    this.#waiting?.end.abort();
  }

  #end(): void {
    this.#queue.length = 0;
    this.#lines.close();
  }
}

/** The output of the line editor, which is silent while an answer is written. */
class Screen extends Writable {
  muted = true;

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (!this.muted) process.stdout.write(chunk);
    done();
  }

  // The line editor asks how wide its screen is.
  get columns(): number | undefined {
    return process.stdout.columns;
  }
}
