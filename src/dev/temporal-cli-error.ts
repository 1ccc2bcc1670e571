/** The Temporal CLI cannot be had; the message says what was tried and what to do. */
export class TemporalCliError extends Error {
  override readonly name = 'TemporalCliError';
}
