import { APICallError } from '@ai-sdk/provider';

const CANNOT_HEAL = new Set([400, 401, 403, 404, 422]);
const CONTEXT_LENGTH =
  /context[\s_-]?(?:length|window)|maximum context|too many tokens|(?:prompt|input|messages?) (?:is|are) too long/i;
/** To Temporal a delay of 0 means no retry at all. */
const MIN_RETRY_AFTER_MS = 1_000;
const MAX_RETRY_AFTER_MS = 60_000;

/** What went wrong with a model call, and whether trying again may help. */
export class ModelError extends Error {
  readonly code: string;
  readonly heals: boolean;
  /** How long the provider asks to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(
    code: string,
    message: string,
    options: { heals: boolean; retryAfterMs?: number | undefined; cause?: unknown },
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ModelError';
    this.code = code;
    this.heals = options.heals;
    this.retryAfterMs = options.retryAfterMs;
  }

  /** Reads an error of the AI SDK, of `fetch`, or a stream part. Never carries the request's body or headers. */
  static from(error: unknown): ModelError {
    if (error instanceof ModelError) return error;
    if (APICallError.isInstance(error)) {
      const { statusCode } = error;
      const message =
        statusCode === undefined
          ? `the model cannot be reached: ${reason(error)}`
          : `the model answered ${statusCode}: ${error.message}`;
      const contextLength =
        (statusCode === 400 || statusCode === 413) &&
        CONTEXT_LENGTH.test(`${error.message} ${error.responseBody ?? ''}`);
      return new ModelError(
        contextLength
          ? 'context-length'
          : statusCode === undefined
            ? 'model-unreachable'
            : `http-${statusCode}`,
        short(message),
        {
          heals: !contextLength && !(statusCode !== undefined && CANNOT_HEAL.has(statusCode)),
          retryAfterMs: retryAfter(error.responseHeaders),
        },
      );
    }
    // What a parser complains of quotes the answer: the answer's text stays out of failures and logs.
    const { name, cause } = error as { name?: string; cause?: { code?: unknown } };
    const code = typeof cause?.code === 'string' ? ` (${cause.code})` : '';
    return new ModelError('model-error', `the model's answer cannot be read: ${name ?? 'error'}${code}`, {
      heals: true,
    });
  }
}

function reason(error: unknown): string {
  if (typeof error === 'string') return error;
  const { message, cause } = error as { message?: unknown; cause?: unknown };
  const own = typeof message === 'string' ? message : JSON.stringify(error);
  const code = (cause as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' ? `${own} (${code})` : own;
}

/** Failures travel in Temporal's history: they stay small. */
function short(text: string): string {
  return text.length > 500 ? `${text.slice(0, 500)}…` : text;
}

function retryAfter(headers: Record<string, string> | undefined): number | undefined {
  const seconds = Number(headers?.['retry-after'] ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0
    ? Math.min(Math.max(seconds * 1000, MIN_RETRY_AFTER_MS), MAX_RETRY_AFTER_MS)
    : undefined;
}
