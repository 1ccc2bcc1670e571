import type { AssistantMessage } from '../contract.ts';

/** The tool calls of one step, and which of them still want a result. Providers reuse call ids: they are counted. */
export class StepCalls {
  /** Calls by id: how many the message or the log made, and how many were logged and answered. */
  readonly #calls = new Map<string, { asked: number; logged: number; answered: number }>();

  /** The calls that a message asks for. */
  ask(message: AssistantMessage): void {
    for (const block of message.content) {
      if (block?.type === 'tool-call' && typeof block.id === 'string') this.#call(block.id).asked += 1;
    }
  }

  /** A `tool/call` event. @returns whether the message asked for it */
  log(callId: string): boolean {
    const call = this.#call(callId);
    call.logged += 1;
    return call.logged <= call.asked;
  }

  /** A result. @returns whether it answers a call that wanted one */
  answer(callId: string): boolean {
    const call = this.#call(callId);
    call.answered += 1;
    return call.answered <= Math.max(call.asked, call.logged);
  }

  /** Ids of calls without a result. */
  unanswered(): string[] {
    return [...this.#calls]
      .filter(([, call]) => call.answered < Math.max(call.asked, call.logged))
      .map(([id]) => id);
  }

  #call(id: string) {
    const call = this.#calls.get(id) ?? { asked: 0, logged: 0, answered: 0 };
    this.#calls.set(id, call);
    return call;
  }
}
