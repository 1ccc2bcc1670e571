import type { Command } from 'commander';
import { CommandError } from './command-error.ts';
import type { Terminal } from './terminal.ts';

/** `cancel SESSION`: ends the open turn. */
export function cancelCommand(program: Command, terminal: Terminal): void {
  program
    .command('cancel')
    .description("cancel a session's open turn; prompts that have not entered it open the next one")
    .argument('<session>', 'the id of the session')
    .option('--json', 'print one JSON object')
    .action(async (given: string, { json }: { json?: true }) => {
      const { sessionId, settings, withClient } = await import('./resources.ts');
      const { cancelTurn, turnRuns } = await import('../client/cancel.ts');
      settings();
      const id = sessionId(given);
      await withClient(async (client) => {
        if (!(await turnRuns(client, id))) {
          throw new CommandError(
            'no-open-turn',
            `no turn of session ${JSON.stringify(id)} runs; time-context sessions lists the sessions`,
          );
        }
        await cancelTurn(client, id);
      });
      terminal.line(
        json ? JSON.stringify({ sessionId: id, cancelled: true }) : `cancelling the turn of ${id}`,
      );
    });
}
