/** Sends a prompt and waits for its answer, telling what the wait is about. Used by `prompt`, `chat` and `npm start`. */
import type { Client } from '@temporalio/client';
import { followPrompt } from '../client/answer.ts';
import { type PromptOptions, sendPrompt } from '../client/prompt.ts';
import { type ShownItem, shownItem } from '../client/show.ts';
import { turnTrouble } from '../client/trouble.ts';
import { type LogEvent, type PromptReceipt, TASK_QUEUE } from '../contract.ts';
import type { SessionLog } from '../session/session-log.ts';

/** After so long without a word from the other side, the user is told why. Milliseconds. */
const QUIET_MS = 5_000;

const NOT_LOGGED =
  'the prompt is accepted, but not in the log yet; does the worker write to the same DATABASE_URL?';

/** How an answer ended: the turn's end, or a policy that consumed the prompt. */
export type AnswerEnd = Extract<ShownItem, { kind: 'turn-end' | 'consumed' }>;

export interface Listener {
  /** Each thing that is shown of the turn, as it is logged. */
  item(item: ShownItem): void;
  /** A line about the waiting itself. */
  note(text: string): void;
}

/**
 * Sends a prompt. Until a worker accepted it, nothing durable was promised.
 * @param signal - ends the waiting; its reason is thrown
 */
export async function sendPatiently(
  client: Client,
  options: PromptOptions,
  listener: Pick<Listener, 'note'>,
  signal: AbortSignal,
): Promise<PromptReceipt> {
  const sending = sendPrompt(client, options);
  // It may fail after nobody waits for it any more.
  sending.catch(() => undefined);
  const timer = setTimeout(() => {
    const queue = options.taskQueue ?? TASK_QUEUE;
    listener.note(
      `no worker has taken the prompt yet (task queue ${queue}); it is not accepted before one does. Start one with npm start, or wait`,
    );
  }, QUIET_MS);
  try {
    return await Promise.race([sending, aborted(signal)]);
  } finally {
    clearTimeout(timer);
  }
}

/** Follows the turn of an accepted prompt to its end. */
export function followAnswer(
  client: Client,
  log: SessionLog,
  { sessionId, promptId }: Pick<PromptReceipt, 'sessionId' | 'promptId'>,
  listener: Listener,
  signal: AbortSignal,
): Promise<AnswerEnd> {
  const events = followPrompt(log, sessionId, promptId, signal);
  return followEvents(client, sessionId, events, listener, NOT_LOGGED);
}

/**
 * Follows events of a session's turn to its end.
 * @param silence - what to tell while nothing came at all
 */
export async function followEvents(
  client: Client,
  sessionId: string,
  events: AsyncIterable<LogEvent>,
  listener: Listener,
  silence?: string,
): Promise<AnswerEnd> {
  let heard = performance.now();
  let told: string | undefined;
  const timer = setInterval(async () => {
    if (performance.now() - heard < QUIET_MS) return;
    const why = (await turnTrouble(client, sessionId).catch(() => undefined)) ?? silence;
    if (why === undefined || why === told) return;
    told = why;
    listener.note(why);
  }, QUIET_MS / 2);
  try {
    for await (const event of events) {
      heard = performance.now();
      silence = undefined;
      const item = shownItem(event);
      if (!item) continue;
      listener.item(item);
      if (item.kind === 'turn-end' || item.kind === 'consumed') return item;
    }
  } finally {
    clearInterval(timer);
  }
  throw new Error(`the log of session ${sessionId} ended before its turn did`);
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
