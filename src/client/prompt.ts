import { randomUUID } from 'node:crypto';
import { type Client, WithStartWorkflowOperation, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import {
  AGENT_TURN,
  LIMIT,
  PROMPT_ID,
  PROMPT_UPDATE,
  type PromptArgument,
  type PromptReceipt,
  SESSION_ID,
  TASK_QUEUE,
  WORKFLOW_ID_PREFIX,
} from '../contract.ts';
import { ALLOWED_ZONES, acceptZone } from '../reading/zone.ts';

/** A prompt that was refused; nothing was stored. `code` is the contract's. */
export class PromptRefusedError extends Error {
  readonly code: string;

  constructor(code: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'PromptRefusedError';
    this.code = code;
  }
}

export interface PromptOptions extends PromptArgument {
  sessionId: string;
  /** Default: a new one. The same id again changes nothing and answers the same. */
  promptId?: string;
  taskQueue?: string;
}

/**
 * Sends a prompt: it opens a turn or steers the open one, and is durable when the receipt is here.
 * @throws PromptRefusedError, before anything is sent where the prompt's own shape is wrong
 */
export async function sendPrompt(client: Client, options: PromptOptions): Promise<PromptReceipt> {
  const { sessionId, promptId = randomUUID(), taskQueue = TASK_QUEUE } = options;
  const argument = checkPrompt({ ...options, promptId });
  const startWorkflowOperation = new WithStartWorkflowOperation(AGENT_TURN, {
    workflowId: WORKFLOW_ID_PREFIX + sessionId,
    taskQueue,
    args: [{ sessionId }],
    workflowIdConflictPolicy: 'USE_EXISTING',
  });
  // Nobody awaits the handle where the update itself fails.
  startWorkflowOperation.workflowHandle().catch(() => undefined);
  try {
    return await client.workflow.executeUpdateWithStart<never, PromptReceipt, [PromptArgument]>(
      PROMPT_UPDATE,
      {
        updateId: promptId,
        args: [argument],
        startWorkflowOperation: startWorkflowOperation as never,
      },
    );
  } catch (error) {
    if (error instanceof WorkflowUpdateFailedError && error.cause instanceof ApplicationFailure) {
      throw new PromptRefusedError(error.cause.type ?? 'refused', error.cause.message, error);
    }
    throw error;
  }
}

/** The argument of the update, checked and with its zone's primary name left to the log. */
export function checkPrompt({
  sessionId,
  promptId,
  text,
  timeZone,
  clientTime,
}: PromptOptions & { promptId: string }): PromptArgument {
  if (!SESSION_ID.test(sessionId)) {
    throw new PromptRefusedError(
      'invalid-session-id',
      `session id ${JSON.stringify(sessionId)} is not allowed: 1 to 128 of A-Z a-z 0-9 . _ -`,
    );
  }
  if (!PROMPT_ID.test(promptId)) {
    throw new PromptRefusedError(
      'invalid-prompt-id',
      `prompt id ${JSON.stringify(promptId)} is not allowed: 1 to 128 printable ASCII characters`,
    );
  }
  if (text === '')
    throw new PromptRefusedError('invalid-prompt', 'the prompt is empty; it needs a text of 1 byte or more');
  const bytes = Buffer.byteLength(text);
  if (bytes > LIMIT.promptBytes)
    throw new PromptRefusedError(
      'prompt-too-large',
      `the prompt has ${bytes} bytes, allowed: ${LIMIT.promptBytes}`,
    );
  const zone = acceptZone(timeZone);
  if (zone.ok === false) {
    throw new PromptRefusedError(
      'invalid-time-zone',
      `time zone ${JSON.stringify(timeZone)} is not allowed: ${ALLOWED_ZONES}`,
    );
  }
  return {
    text,
    ...(timeZone === undefined ? {} : { timeZone }),
    ...(clientTime === undefined ? {} : { clientTime }),
  };
}
