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
    await sleep(POLL_MS, undefined, signal ? { signal } : {});
    place = await log.promptPlace(sessionId, promptId);
  }
  for (let seq = place.seq; ; ) {
    for await (const event of log.events(sessionId, seq)) {
      yield event;
      seq = event.seq + 1;
      if (event.type === 'turn/end' || event.type === 'prompt/consumed') return;
    }
    await sleep(POLL_MS, undefined, signal ? { signal } : {});
  }
}
