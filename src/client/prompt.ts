import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Client,
  isGrpcServiceError,
  WithStartWorkflowOperation,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
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
  /** `false`: one attempt, whatever fails; default: passing failures are tried again. */
  retry?: false;
}

/** From the first failure on, a prompt is sent again for so long; its id makes that safe. */
const RETRY_FOR_MS = 30_000;
const RETRY_MAX_MS = 2_000;

/**
 * Failures of the way, not of the prompt: a worker that died with the update in its hands, a run that closed under it,
 * a server that is restarting, a full inbox.
 */
const PASSING = {
  deadlineExceeded: 4,
  notFound: 5,
  resourceExhausted: 8,
  failedPrecondition: 9,
  aborted: 10,
  unavailable: 14,
};
const PASSING_CODES = new Set<number>(Object.values(PASSING));

/**
 * Sends a prompt: it opens a turn or steers the open one, and is durable when the receipt is here. Waits for a worker
 * as long as it takes; passing failures are tried again for half a minute, under the same id.
 * @throws PromptRefusedError, before anything is sent where the prompt's own shape is wrong
 */
export async function sendPrompt(client: Client, options: PromptOptions): Promise<PromptReceipt> {
  const promptId = options.promptId ?? randomUUID();
  const argument = checkPrompt({ ...options, promptId });
  let failingSince: number | undefined;
  for (let wait = 100; ; wait = Math.min(wait * 2, RETRY_MAX_MS)) {
    const started = performance.now();
    try {
      return await sendOnce(client, options, promptId, argument);
    } catch (error) {
      // An attempt that waited long (for a worker, say) begins the half minute anew.
      if (failingSince === undefined || performance.now() - started > RETRY_FOR_MS)
        failingSince = performance.now();
      if (options.retry === false || !passes(error) || performance.now() - failingSince > RETRY_FOR_MS)
        throw error;
      await sleep(wait * (0.5 + Math.random()));
    }
  }
}

async function sendOnce(
  client: Client,
  { sessionId, taskQueue = TASK_QUEUE }: PromptOptions,
  promptId: string,
  argument: PromptArgument,
): Promise<PromptReceipt> {
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

function passes(error: unknown): boolean {
  if (error instanceof PromptRefusedError) return error.code === 'inbox-full';
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof WorkflowUpdateRPCTimeoutOrCancelledError) return true;
    // An update or a run that is not found was lost with a server's last moment; a namespace is not there at all.
    if (isGrpcServiceError(at)) return PASSING_CODES.has(at.code) && !/namespace/i.test(at.details);
  }
  return false;
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
