import type { Command } from 'commander';
import { usageError } from './command-error.ts';
import type { Terminal } from './terminal.ts';

/** `chat`: the prompt of `npm start`, with a worker that runs elsewhere. */
export function chatCommand(program: Command, terminal: Terminal): void {
  program
    .command('chat')
    .description('talk to a session in the terminal; a worker must run')
    .option('--session <id>', 'the session; it begins with its first prompt', 'default')
    .option('--json', 'refused: a conversation is no JSON object; use prompt --json')
    .action(async ({ session, json }: { session: string; json?: true }) => {
      if (json) throw usageError('chat has no --json; use prompt --json, once for each prompt');
      const { sessionId, withClient, withLog } = await import('./resources.ts');
      const { runRepl } = await import('./repl.ts');
      const id = sessionId(session);
      await withLog(
        (log, { taskQueue }) =>
          withClient((client) => runRepl({ client, log, sessionId: id, taskQueue, terminal })),
        // The worker may be about to make it.
        { create: true },
      );
    });
}
