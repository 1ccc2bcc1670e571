import { ApplicationFailure } from '@temporalio/workflow';
import {
  type CarriedTurn,
  LIMIT,
  type OfferedPrompt,
  PROMPT_ID,
  type PromptArgument,
  ZONE_SHAPE,
} from '../contract.ts';

/** Prompts that the workflow accepted and the log does not know yet, in arrival order. */
export class Inbox {
  #prompts: OfferedPrompt[] = [];
  #bytes = 0;

  get size(): number {
    return this.#prompts.length;
  }

  get prompts(): OfferedPrompt[] {
    return [...this.#prompts];
  }

  /**
   * Refuses a prompt by its shape and by the room there is. It knows no zone data, so any name of the right shape passes.
   * @throws ApplicationFailure with the contract's code as its type
   */
  check(prompt: PromptArgument & { promptId: string }): void {
    checkShape(prompt);
    const known = this.#prompts.find(({ promptId }) => promptId === prompt.promptId);
    if (known) {
      if (known.text === prompt.text) return;
      refuse(
        'prompt-id-conflict',
        `prompt id ${shown(prompt.promptId)} waits already with another text; send a new prompt under a new id`,
      );
    }
    if (this.#prompts.length >= LIMIT.inboxPrompts || this.#bytes + bytesOf(prompt) > LIMIT.inboxBytes) {
      refuse(
        'inbox-full',
        `${this.#prompts.length} prompts (${this.#bytes} bytes) wait already, allowed: ${LIMIT.inboxPrompts} and ${LIMIT.inboxBytes} bytes; send it again later`,
      );
    }
  }

  accept(prompt: OfferedPrompt): void {
    if (this.#prompts.some(({ promptId }) => promptId === prompt.promptId)) return;
    this.#prompts.push(prompt);
    this.#bytes += bytesOf(prompt);
  }

  /** Drops the prompts that the log knows. */
  drop(logged: readonly string[]): void {
    if (logged.length === 0) return;
    const known = new Set(logged);
    this.#prompts = this.#prompts.filter(({ promptId }) => !known.has(promptId));
    this.#bytes = this.#prompts.reduce((sum, prompt) => sum + bytesOf(prompt), 0);
  }
}

/** The text and id rules of the contract, for an update and for a start argument alike. */
export function checkShape({ text, promptId, clientTime }: PromptArgument & { promptId: string }): void {
  if (typeof promptId !== 'string' || !PROMPT_ID.test(promptId)) {
    refuse(
      'invalid-prompt-id',
      `prompt id ${shown(promptId)} is not allowed: 1 to 128 printable ASCII characters`,
    );
  }
  if (typeof text !== 'string' || text === '')
    refuse('invalid-prompt', 'a prompt needs a text of 1 byte or more');
  const bytes = utf8Bytes(text);
  if (bytes > LIMIT.promptBytes)
    refuse('prompt-too-large', `the prompt has ${bytes} bytes, allowed: ${LIMIT.promptBytes}`);
  if (clientTime !== undefined && !Number.isSafeInteger(clientTime)) {
    refuse('invalid-client-time', `clientTime is ${shown(clientTime)}, allowed: whole epoch milliseconds`);
  }
}

/** The update refuses what cannot be a zone's name; a start argument with such a name loses the zone, not the prompt. */
export function checkZoneShape({ timeZone }: PromptArgument): void {
  if (timeZone !== undefined && (typeof timeZone !== 'string' || !ZONE_SHAPE.test(timeZone))) {
    refuse('invalid-time-zone', `time zone ${shown(timeZone)} is no IANA name, such as Europe/Berlin or UTC`);
  }
}

/**
 * The prompt of a start argument: its known fields, nothing else that somebody put there. What cannot be a zone's name
 * loses the zone, not the prompt: the log keeps what was given.
 */
export function startPrompt(
  prompt: PromptArgument & { id?: string },
  runId: string,
): PromptArgument & { promptId: string } {
  const { id, text, timeZone, clientTime } = Object(prompt) as typeof prompt;
  const started = {
    promptId: id ?? runId,
    text,
    ...(timeZone == null ? {} : { timeZone: givenZone(timeZone) }),
    ...(clientTime == null ? {} : { clientTime }),
  };
  checkShape(started);
  return started;
}

function givenZone(timeZone: unknown): string {
  return (typeof timeZone === 'string' ? timeZone : JSON.stringify(timeZone)).slice(0, LIMIT.zoneChars);
}

/** The prompts that the run before handed on. Only the workflow itself writes them; anybody can send something else. */
export function carriedPrompts(carried: CarriedTurn | undefined): OfferedPrompt[] {
  if (carried === undefined) return [];
  const prompts: unknown = Object(carried).inbox;
  if (!Array.isArray(prompts))
    refuse('invalid-argument', 'carried is the workflow’s own: leave it out of a start');
  for (const prompt of prompts) checkShape(Object(prompt));
  return prompts;
}

/** A value in a message: what was given, never more than a line of it. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}

function refuse(code: string, message: string): never {
  throw ApplicationFailure.nonRetryable(message, code);
}

function bytesOf(prompt: PromptArgument): number {
  return utf8Bytes(JSON.stringify(prompt));
}

function utf8Bytes(text: string): number {
  return new TextEncoder().encode(text).length;
}
