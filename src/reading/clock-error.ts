/** The clock cannot be right: contract §1. A reading of it would be worse than none. */
export class ImplausibleClockError extends Error {
  readonly code = 'implausible-clock';

  constructor(instant: number) {
    super(
      `implausible clock: ${instant} ms since 1970 lies outside the years 2000 to 9999; set the clock of this machine`,
    );
    this.name = 'ImplausibleClockError';
  }
}
