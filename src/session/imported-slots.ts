import type { AssistantMessage, EventData, LogEvent, ToolCallBlock } from '../contract.ts';
import { answeredCall } from '../verify/data.ts';
import { toolCalls } from './next-step.ts';
import { promptIdOf, slotOf } from './project.ts';

/**
 * Gives the events of an import the slots that they had where they were written, in the order of the log, and finds
 * what may stand only once: the log would refuse it, without saying which line it was.
 */
export class ImportedSlots {
  readonly #turnKeys = new Set<string>();
  readonly #prompts = new Set<string>();
  /** Null where the turn came without a key, as another product's do: such a turn has no slots. */
  #turnKey: string | null = null;
  #turn = 0;
  #step = 0;
  #taken = new Set<string>();
  #calls: ToolCallBlock[] = [];

  /**
   * Takes the next event, whose data has the shape of its type.
   * @returns `slot` for the append; `twice` says what stands a second time
   */
  take(event: LogEvent): { slot?: string; twice?: string } {
    const prompt = promptIdOf(event);
    if (prompt !== null) {
      if (this.#prompts.has(prompt)) return { twice: `prompt ${JSON.stringify(prompt)}` };
      this.#prompts.add(prompt);
    }
    if (event.type === 'turn/start') {
      const repeated = this.#startTurn(event.data as EventData['turn/start']);
      if (repeated) return { twice: `turn key ${JSON.stringify(this.#turnKey)}` };
    }
    if (event.type === 'step/start') this.#step = (event.data as EventData['step/start']).step;
    if (this.#turnKey === null) return {};
    const slot = this.#slot(event);
    if (slot === undefined) return {};
    const place = `${event.type.startsWith('turn/') ? 0 : this.#step}/${slot}`;
    if (this.#taken.has(place)) return { twice: `${slot} of turn ${this.#turn}, step ${this.#step}` };
    this.#taken.add(place);
    if (event.type === 'turn/end') this.#turnKey = null;
    return { slot };
  }

  #startTurn(data: EventData['turn/start']): boolean {
    const turnKey = data.turnKey ?? null;
    this.#turnKey = turnKey;
    this.#turn = data.turn;
    this.#step = 0;
    this.#taken = new Set();
    this.#calls = [];
    if (turnKey === null) return false;
    if (this.#turnKeys.has(turnKey)) return true;
    this.#turnKeys.add(turnKey);
    return false;
  }

  #slot(event: LogEvent): string | undefined {
    switch (event.type) {
      case 'assistant/message':
        this.#calls = toolCalls((event.data as { message: AssistantMessage }).message);
        return 'message';
      case 'tool/call':
        return this.#callSlot('call', (event.data as EventData['tool/call']).callId);
      case 'tool/result':
        // A pruned copy answers nothing anew.
        return event.surfaceOp === 'append' ? this.#callSlot('result', answeredCall(event.data)) : undefined;
      default:
        return slotOf(event) ?? undefined;
    }
  }

  /** The place of a call in its message. Providers reuse ids: the second of one id is the second call of that id. */
  #callSlot(kind: 'call' | 'result', callId: string | undefined): string | undefined {
    const free = (index: number) => !this.#taken.has(`${this.#step}/${kind}:${index}`);
    const index = this.#calls.findIndex(({ id }, at) => id === callId && free(at));
    return index === -1 ? undefined : `${kind}:${index}`;
  }
}
