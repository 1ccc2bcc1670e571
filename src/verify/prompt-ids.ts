import { type EventData, type LogEvent, PROMPT_ID, type UserMessage } from '../contract.ts';
import { classKey, tablePrimary } from '../reading/zone-class.ts';
import { isObject, isTime } from './envelope.ts';
import { type Report, shown } from './problem.ts';

/**
 * A prompt stands in the log exactly once, as its message or as consumed (contract §6).
 * The ids are the one thing here that grows with the prompts of a log.
 */
export class PromptIds {
  readonly #places = new Map<string, number>();

  check(event: LogEvent, report: Report): void {
    if (event.type === 'prompt/consumed') {
      this.#place((event.data as EventData['prompt/consumed']).promptId, event.seq, report);
      return;
    }
    const { prompt, source } = event.data as UserMessage;
    if (prompt === undefined) return;
    if (!isObject(prompt) || !isTime(prompt.acceptedAt))
      report('prompt', 'prompt.acceptedAt in whole epoch milliseconds', shown(prompt));
    const { kind, rpcId, clientTimeZone } = source as {
      kind: string;
      rpcId?: unknown;
      clientTimeZone?: unknown;
    };
    if (kind !== 'user' || typeof rpcId !== 'string' || !PROMPT_ID.test(rpcId)) {
      report('prompt', 'a prompt with a source of kind "user" and its id as rpcId', shown(source));
      return;
    }
    const given: unknown = isObject(prompt) ? prompt.givenTimeZone : undefined;
    const stored =
      typeof clientTimeZone === 'string' && typeof given === 'string' && tablePrimary(given) !== undefined;
    if (stored && classKey(given) !== classKey(clientTimeZone)) {
      report('prompt', `the zone that was given, ${given}`, clientTimeZone);
    }
    this.#place(rpcId, event.seq, report);
  }

  #place(promptId: string, seq: number, report: Report): void {
    const first = this.#places.get(promptId);
    if (first === undefined) this.#places.set(promptId, seq);
    else report('prompt', `prompt ${promptId} once, as in event ${first}`, `it again in event ${seq}`);
  }
}
