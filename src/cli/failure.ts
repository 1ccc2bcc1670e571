import { CommandError, EXIT } from './command-error.ts';

/** An error as a user is told of it. `stack` is there where nobody expected it. */
export interface Failure {
  code: string;
  message: string;
  exitCode: number;
  stack?: string;
}

/** Codes of what the user gave: an option, a setting. Everything else that has a code failed while it was done. */
const GIVEN_WRONG =
  /^(bad-setting|config-.*|database-url|invalid-time-zone|invalid-session-id|invalid-prompt-id|invalid-batch|implausible-clock)$/;

/** Expected errors that have a name only. */
const NAMED: Record<string, string> = { TemporalCliError: 'temporal-cli', DevServerError: 'dev-server' };

/** Any error as one line and an exit code: 2 for what the user gave, 1 for the rest. */
export function failureOf(error: unknown): Failure {
  if (error instanceof CommandError) {
    const { code, message, exitCode } = error;
    return { code, message, exitCode };
  }
  const { name, code, message, stack, cause, syscall } = Object(error) as NodeJS.ErrnoException;
  if (name === 'ServiceError' || name === 'WorkflowUpdateRPCTimeoutOrCancelledError') {
    return serverFailure(message, cause);
  }
  if (name === 'NamespaceNotFoundError') {
    const said = `the Temporal server refused: ${message}; set TEMPORAL_NAMESPACE to one that it has`;
    return { code: 'server-refused', message: said, exitCode: EXIT.failed };
  }
  const named = NAMED[name];
  if (named !== undefined) return { code: named, message, exitCode: EXIT.failed };
  // A full disk, a folder that cannot be written: its message names the path.
  if (syscall !== undefined) return { code: 'system-error', message, exitCode: EXIT.failed };
  if (typeof code === 'string' && /^[a-z][a-z-]*$/.test(code)) {
    return { code, message, exitCode: GIVEN_WRONG.test(code) ? EXIT.usage : EXIT.failed };
  }
  return {
    code: 'internal-error',
    message: message ?? String(error),
    exitCode: EXIT.failed,
    ...(stack === undefined ? {} : { stack }),
  };
}

/** What the Temporal server, or the way to it, answered in place of a result. */
function serverFailure(message: string, cause: unknown): Failure {
  const { details, code } = Object(cause) as { details?: string; code?: number };
  const why = details || message;
  const lost = code === UNAVAILABLE || code === DEADLINE_EXCEEDED;
  return lost
    ? {
        code: 'server-unreachable',
        message: `the Temporal server stopped answering: ${why}`,
        exitCode: EXIT.failed,
      }
    : { code: 'server-refused', message: `the Temporal server refused: ${why}`, exitCode: EXIT.failed };
}

/** Status codes of gRPC. */
const DEADLINE_EXCEEDED = 4;
const UNAVAILABLE = 14;
