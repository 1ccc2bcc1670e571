import type { Command } from 'commander';
import { counted } from './counted.ts';
import type { Terminal } from './terminal.ts';

/** `show SESSION`: the log as a person reads it. */
export function showCommand(program: Command, terminal: Terminal): void {
  program
    .command('show')
    .description("show a session's log: turns, steps, prompts, readings, tools, answers")
    .argument('<session>', 'the id of the session')
    .option('--json', 'print one JSON object')
    .action(async (given: string, { json }: { json?: true }) => {
      const { sessionId, withLog } = await import('./resources.ts');
      const { shownItem } = await import('../client/show.ts');
      const { LogText } = await import('./log-text.ts');
      const id = sessionId(given);
      await withLog(async (log) => {
        const header = await log.header(id);
        if (json) {
          // Item by item: a long log must not stand in memory.
          await terminal.part(`{"header":${JSON.stringify(header)},"items":[`);
          let separator = '\n';
          for await (const event of log.events(id)) {
            const item = shownItem(event);
            if (!item) continue;
            await terminal.part(separator + JSON.stringify(item));
            separator = ',\n';
          }
          await terminal.part(']}\n');
          return;
        }
        const state = await log.read((tx) => tx.session(id));
        const { turn = 0, nextSeq = 0, turnOpen = false } = state ?? {};
        terminal.line(
          `session ${id}, created ${new Date(header.createdAt).toISOString()}, ${counted(turn, 'turn')}, ${counted(nextSeq, 'event')}`,
        );
        const text = new LogText(terminal);
        for await (const event of log.events(id)) {
          const item = shownItem(event);
          if (item) text.print(item);
        }
        text.end();
        if (turnOpen) terminal.line(terminal.style('yellow', `  turn ${turn} is open`));
      });
    });
}
