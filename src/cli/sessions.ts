import type { Command } from 'commander';
import { counted } from './counted.ts';
import type { Terminal } from './terminal.ts';

/** `sessions`: what the log holds. */
export function sessionsCommand(program: Command, terminal: Terminal): void {
  program
    .command('sessions')
    .description('list the sessions of the log, oldest first')
    .option('--json', 'print one JSON object')
    .action(async ({ json }: { json?: true }) => {
      const { withLog } = await import('./resources.ts');
      const sessions = await withLog((log) => log.sessions());
      if (json) {
        terminal.line(JSON.stringify({ sessions }));
        return;
      }
      if (sessions.length === 0) terminal.note('no sessions yet; time-context prompt begins one');
      const width = Math.max(...sessions.map(({ sessionId }) => sessionId.length));
      for (const { sessionId, createdAt, events, turns, open } of sessions) {
        const size = `${counted(turns, 'turn')}, ${counted(events, 'event')}${open ? ', a turn is open' : ''}`;
        terminal.line(`${sessionId.padEnd(width)}  ${new Date(createdAt).toISOString()}  ${size}`);
      }
    });
}
