import { setTimeout as sleep } from 'node:timers/promises';
import type { LogEvent } from '../contract.ts';
import type { SessionLog } from '../session/session-log.ts';

const POLL_MS = 60;

/**
 * The events of a prompt's turn as they are appended, from the prompt itself to the turn's end. The log is asked, never
 * Temporal: the answer's text stands nowhere else.
 * @param signal - ends the waiting; its reason is thrown
 */
export async function* followPrompt(
  log: SessionLog,
  sessionId: string,
  promptId: string,
  signal?: AbortSignal,
): AsyncGenerator<LogEvent> {
  let place = await log.promptPlace(sessionId, promptId);
  while (!place) {
    await pause(signal);
    place = await log.promptPlace(sessionId, promptId);
  }
  yield* followTurn(log, sessionId, place.seq, signal);
}

/**
 * The events of a session from `fromSeq` on as they are appended, to the end of the turn that they are in.
 * @param signal - ends the waiting; its reason is thrown
 */
export async function* followTurn(
  log: SessionLog,
  sessionId: string,
  fromSeq: number,
  signal?: AbortSignal,
): AsyncGenerator<LogEvent> {
  for (let seq = fromSeq; ; ) {
    for await (const event of log.events(sessionId, seq)) {
      yield event;
      seq = event.seq + 1;
      if (event.type === 'turn/end' || event.type === 'prompt/consumed') return;
    }
    await pause(signal);
  }
}

async function pause(signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(POLL_MS, undefined, signal ? { signal } : {});
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  }
}
