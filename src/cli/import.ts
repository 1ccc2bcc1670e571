import type { Command } from 'commander';
import { CommandError } from './command-error.ts';
import { counted } from './counted.ts';
import type { Terminal } from './terminal.ts';

/** `import FILE`: a session from JSON Lines into the log. */
export function importCommand(program: Command, terminal: Terminal): void {
  program
    .command('import')
    .description('store a session from a file that export wrote, all of it or nothing')
    .argument('<file>', 'JSON Lines of this product or of DeepSeek Harness')
    .option('--as <id>', "another session id than the file's")
    .option('--json', 'print one JSON object')
    .action(async (file: string, { as, json }: { as?: string; json?: true }) => {
      const { sessionId, withLog } = await import('./resources.ts');
      const { withSessionFile } = await import('./session-file.ts');
      const { importSession } = await import('../session/exchange.ts');
      const id = as === undefined ? undefined : sessionId(as);
      const imported = await withSessionFile(file, (bytes) =>
        withLog((log) => importSession(log, bytes, id === undefined ? {} : { as: id }), { create: true }),
      ).catch((error: { code?: string; message: string }) => {
        if (error.code !== 'session-exists') throw error;
        throw new CommandError(error.code, `${error.message.split(';')[0]}; give another id with --as`);
      });
      if (json) {
        terminal.line(JSON.stringify(imported));
        return;
      }
      const { events, turns, open } = imported;
      const end = open ? '; its last turn stands open, the next prompt closes it' : '';
      terminal.line(
        `imported ${imported.sessionId}: ${counted(turns, 'turn')}, ${counted(events, 'event')}${end}`,
      );
    });
}
