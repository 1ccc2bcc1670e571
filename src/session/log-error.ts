/** An error of the log with a stable code; the message says what was given, what is allowed, what to do. */
export class LogError extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'LogError';
    this.code = code;
  }
}
