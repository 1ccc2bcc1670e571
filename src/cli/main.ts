/** The command line: one file a command, and here what they share. */
import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { cancelCommand } from './cancel.ts';
import { chatCommand } from './chat.ts';
import { EXIT } from './command-error.ts';
import { exportCommand } from './export.ts';
import { type Failure, failureOf } from './failure.ts';
import { forkCommand } from './fork.ts';
import { importCommand } from './import.ts';
import { previewCommand } from './preview.ts';
import { promptCommand } from './prompt.ts';
import { requestCommand } from './request.ts';
import { sessionsCommand } from './sessions.ts';
import { showCommand } from './show.ts';
import { endOnClosedPipe, printable, Terminal } from './terminal.ts';
import { verifyCommand } from './verify.ts';

/** After its last word a command may take this long to let go of its connections. Milliseconds. */
const LETTING_GO_MS = 300;

const ENVIRONMENT = `
Environment:
  DATABASE_URL                     the log, file:<path>; default file:.time-context/sessions.db
  TIME_CONTEXT_TASK_QUEUE          the workers' task queue; default time-context
  TEMPORAL_ADDRESS, TEMPORAL_…     the Temporal server, or Temporal's configuration file;
                                   default: the npm start of this folder, else localhost:7233
  NO_COLOR                         no colours

Exit codes: 0 done; 1 failed; 2 a bad argument, option or setting; 130 left with Ctrl-C`;

const args = process.argv.slice(2);
/** Asked before the arguments are parsed, since they may be what is wrong. */
const json = args.slice(0, args.includes('--') ? args.indexOf('--') : args.length).includes('--json');
const terminal = new Terminal();

endOnClosedPipe(process.stdout);
endOnClosedPipe(process.stderr);

const program = new Command('time-context')
  .description('Durable time readings for AI agents on Temporal: prompts, logs, verification')
  .version(version())
  .helpCommand('help [command]', 'help on a command')
  .addHelpText('after', ENVIRONMENT)
  .exitOverride()
  .configureOutput({
    writeErr: (text) => {
      // What commander reports is an error like any other: it is told below.
      if (!text.startsWith('error:')) process.stderr.write(text);
    },
  });
for (const add of [
  promptCommand,
  chatCommand,
  sessionsCommand,
  showCommand,
  verifyCommand,
  exportCommand,
  importCommand,
  forkCommand,
  previewCommand,
  requestCommand,
  cancelCommand,
]) {
  add(program, terminal);
}

try {
  await program.parseAsync(args, { from: 'user' });
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = commanderExit(error);
  else fail(failureOf(error));
}
setTimeout(() => process.exit(), LETTING_GO_MS).unref();

function commanderExit({ exitCode, code, message }: CommanderError): number {
  if (exitCode === 0) return 0;
  const text = message.replace(/^error: /, '').replace(/\.$/, '');
  const remedy = code === 'commander.excessArguments' ? '; put a text of several words in quotes' : '';
  // Without a command it printed the help, which says it all.
  if (code !== 'commander.help') {
    fail({ code: 'usage', message: text + remedy, exitCode: EXIT.usage });
  }
  return EXIT.usage;
}

function fail({ code, message, exitCode, stack }: Failure): void {
  if (json) terminal.line(JSON.stringify({ error: { code, message } }));
  else terminal.note(`${terminal.noteStyle('red', 'error:')} ${printable(stack ?? message)}`);
  process.exitCode = exitCode;
}

function version(): string {
  const path = new URL(
    import.meta.url.endsWith('.ts') ? '../../package.json' : '../../../package.json',
    import.meta.url,
  );
  return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version;
}
