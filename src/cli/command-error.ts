/** The exit codes of the command line. */
export const EXIT = { failed: 1, usage: 2, interrupted: 130 } as const;

/** What a command says in one line, with a stable code and its exit code. */
export class CommandError extends Error {
  readonly code: string;
  readonly exitCode: number;

  constructor(code: string, message: string, exitCode: number = EXIT.failed) {
    super(message);
    this.name = 'CommandError';
    this.code = code;
    this.exitCode = exitCode;
  }
}

/** A bad argument or option. */
export function usageError(message: string): CommandError {
  return new CommandError('usage', message, EXIT.usage);
}
