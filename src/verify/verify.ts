import type { LogEvent, SessionHeader } from '../contract.ts';
import { LogVerifier, type VerifyOptions } from './log-verifier.ts';
import type { Problem } from './problem.ts';

export type { VerifyOptions } from './log-verifier.ts';
export type { Problem, Rule } from './problem.ts';

/** `problems` is empty where the log is right. It keeps the first {@link MAX_PROBLEMS}; a note says how many there were. */
export interface Verification {
  events: number;
  readings: number;
  turns: number;
  problems: Problem[];
  notes: string[];
}

/** Problems that one report keeps: a broken log must not take the memory that a whole one does not. */
export const MAX_PROBLEMS = 1000;

/**
 * Re-derives every reading of a session from its log alone, in one pass (contract §9). It needs neither a clock nor tz
 * data, so that it says the same on every machine.
 * @param events - in the order of the log
 */
export async function verifyEvents(
  header: SessionHeader,
  events: AsyncIterable<LogEvent> | Iterable<LogEvent>,
  options: VerifyOptions = {},
): Promise<Verification> {
  const verifier = new LogVerifier(header);
  const problems: Problem[] = [];
  let found = 0;
  const keep = (some: Problem[]) => {
    found += some.length;
    for (const problem of some) if (problems.length < MAX_PROBLEMS) problems.push(problem);
  };
  keep(verifier.takeProblems());
  if (Symbol.asyncIterator in events) for await (const event of events) keep(verifier.check(event));
  else for (const event of events) keep(verifier.check(event));
  const end = verifier.finish(options);
  keep(end.problems);
  if (found > problems.length) end.notes.push(`${found} problems; the first ${problems.length} are listed`);
  return { ...verifier.counts, problems, notes: end.notes };
}

/** A problem on one line, for a terminal. */
export function problemText({ seq, rule, expected, found }: Problem): string {
  return `${seq === null ? 'log' : `event ${seq}`}: ${rule}: expected ${expected}; found ${found}`;
}
