import type { Command } from 'commander';
import type { Verification } from '../verify/verify.ts';
import { EXIT, usageError } from './command-error.ts';
import { counted } from './counted.ts';
import { oneLine, type Terminal } from './terminal.ts';

interface Checked extends Verification {
  /** What was verified: a session's id, or a file as it was named. */
  session?: string;
  file?: string;
}

/** `verify SESSION|FILE|--all`: re-derives every reading from the log alone. */
export function verifyCommand(program: Command, terminal: Terminal): void {
  program
    .command('verify')
    .description('re-derive every reading of a session from its log alone, and check the log')
    .argument('[session-or-file]', 'the id of a session, or a file that export wrote')
    .option('--all', 'verify every session of the log')
    .option('--closed', 'an open turn at the end is a problem too')
    .option('--json', 'print one JSON object')
    .action(async (given: string | undefined, options: { all?: true; closed?: true; json?: true }) => {
      const { all, json, closed = false } = options;
      if ((given === undefined) === (all === undefined)) {
        throw usageError('name one session or one file, or give --all');
      }
      const checked: Checked[] = [];
      let count = 0;
      let ok = true;
      const take = (one: Checked) => {
        count += 1;
        ok &&= one.problems.length === 0;
        if (json) checked.push(one);
        else print(terminal, one);
      };
      if (given === undefined) await verifyAll(closed, take);
      else take(await verifyOne(given, closed));
      if (json) terminal.line(JSON.stringify(all ? { ok, sessions: checked } : { ok, ...checked[0] }));
      else if (all) terminal.note(count === 0 ? 'no sessions yet' : `${counted(count, 'session')} verified`);
      if (!ok) process.exitCode = EXIT.failed;
    });
}

async function verifyOne(given: string, closed: boolean): Promise<Checked> {
  const { withSessionOrFile } = await import('./session-source.ts');
  const { verifyEvents } = await import('../verify/verify.ts');
  return withSessionOrFile(given, async (header, events, source) => ({
    ...source,
    ...(await verifyEvents(header, events, { closed })),
  }));
}

async function verifyAll(closed: boolean, take: (one: Checked) => void): Promise<void> {
  const { withLog } = await import('./resources.ts');
  const { verifyEvents } = await import('../verify/verify.ts');
  await withLog(async (log) => {
    for (const { sessionId } of await log.sessions()) {
      const found = await verifyEvents(await log.header(sessionId), log.events(sessionId), { closed });
      take({ session: sessionId, ...found });
    }
  });
}

function print(
  terminal: Terminal,
  { session, file, events, readings, turns, problems, notes }: Checked,
): void {
  const size = [counted(turns, 'turn'), counted(readings, 'reading'), counted(events, 'event')].join(', ');
  const verdict =
    problems.length === 0
      ? terminal.style('green', 'ok')
      : terminal.style('red', counted(problems.length, 'problem'));
  terminal.line(`${session ?? file}: ${verdict} (${size})`);
  for (const { seq, rule, expected, found } of problems) {
    terminal.line(`  ${seq === null ? 'log' : `event ${seq}`}, ${rule}`);
    terminal.line(`    expected  ${oneLine(expected, 2_000)}`);
    terminal.line(`    found     ${oneLine(found, 2_000)}`);
  }
  for (const note of notes) terminal.line(terminal.style('dim', `  note: ${oneLine(note, 2_000)}`));
}
