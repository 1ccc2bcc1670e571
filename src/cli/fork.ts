import type { Command } from 'commander';
import { CommandError } from './command-error.ts';
import { counted } from './counted.ts';
import { ordinal } from './ordinal.ts';
import type { Terminal } from './terminal.ts';

/** `fork SESSION`: another session with the same past. */
export function forkCommand(program: Command, terminal: Terminal): void {
  program
    .command('fork')
    .description('begin another session with the log of this one, up to the end of a turn')
    .argument('<session>', 'the id of the session')
    .requiredOption('--as <id>', 'the id of the new session')
    .option('--at-turn <n>', 'a turn that ended; default the last one', (given) =>
      ordinal('--at-turn', given),
    )
    .option('--json', 'print one JSON object')
    .action(async (given: string, { as, atTurn, json }: { as: string; atTurn?: number; json?: true }) => {
      const { sessionId, withLog } = await import('./resources.ts');
      const { forkSession } = await import('../client/fork.ts');
      const options = {
        sessionId: sessionId(given),
        as: sessionId(as),
        ...(atTurn === undefined ? {} : { atTurn }),
      };
      const forked = await withLog((log) => forkSession(log, options)).catch(
        (error: { code?: string; message: string }) => {
          if (error.code !== 'session-exists') throw error;
          throw new CommandError(error.code, `${error.message.split(';')[0]}; give another id with --as`);
        },
      );
      const { parentSession, turn, events } = forked;
      if (json) terminal.line(JSON.stringify(forked));
      else
        terminal.line(
          `forked ${forked.sessionId} from ${parentSession}: ${counted(turn, 'turn')}, ${counted(events, 'event')}`,
        );
    });
}
