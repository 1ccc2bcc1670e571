import type { Command } from 'commander';
import type { Terminal } from './terminal.ts';

/** `export SESSION`: JSON Lines on the standard output. */
export function exportCommand(program: Command, terminal: Terminal): void {
  program
    .command('export')
    .description('print a session as JSON Lines: its header, then one event a line')
    .argument('<session>', 'the id of the session')
    .option('--json', 'print one JSON object, { header, events }, instead')
    .action(async (given: string, { json }: { json?: true }) => {
      const { sessionId, withLog } = await import('./resources.ts');
      const { exportSession } = await import('../session/exchange.ts');
      await withLog(async (log) => {
        let line = 0;
        for await (const text of exportSession(log, sessionId(given))) {
          line += 1;
          if (!json) await terminal.part(text);
          else if (line === 1) await terminal.part(`{"header":${text.trimEnd()},"events":[`);
          else await terminal.part(`${line === 2 ? '' : ','}\n${text.trimEnd()}`);
        }
        if (json) await terminal.part(']}\n');
      });
    });
}
