import type { Command } from 'commander';
import type { LogEvent } from '../contract.ts';
import type { ModelRequest, SurfaceMessage } from '../session/request.ts';
import { CommandError } from './command-error.ts';
import { counted } from './counted.ts';
import { ordinal } from './ordinal.ts';
import { indented, oneLine, printable, type Terminal } from './terminal.ts';

interface RequestOptions {
  turn: number;
  step: number;
  json?: true;
}

/** `request SESSION|FILE`: what the model was sent in a step. */
export function requestCommand(program: Command, terminal: Terminal): void {
  program
    .command('request')
    .description('build the model request of a step again, from the log alone')
    .argument('<session-or-file>', 'the id of a session, or a file that export wrote')
    .requiredOption('--turn <n>', 'the turn of that step', (given) => ordinal('--turn', given))
    .requiredOption('--step <n>', 'the step', (given) => ordinal('--step', given))
    .option('--json', 'print one JSON object, { header, messages }')
    .action(async (given: string, { turn, step, json }: RequestOptions) => {
      const { withSessionOrFile } = await import('./session-source.ts');
      const { canonicalJson, reconstructRequest } = await import('../session/reconstruct.ts');
      const request = await withSessionOrFile(given, (_header, events, source) =>
        // What stands in the log was checked on its way in.
        reconstructRequest('file' in source ? checked(source.file, events) : events, { turn, step }),
      );
      if (json) await terminal.part(`${canonicalJson(request)}\n`);
      else print(terminal, request);
    });
}

async function* checked(file: string, events: AsyncIterable<LogEvent>): AsyncGenerator<LogEvent> {
  const { checkedEvents } = await import('../session/exchange.ts');
  let seq = 0;
  const report = (_rule: string, expected: string, found: string): never => {
    throw new CommandError('exchange-invalid', `${file}: event ${seq}: expected ${expected}, found ${found}`);
  };
  for await (const event of checkedEvents(events, report)) {
    seq += 1;
    yield event;
  }
}

function print(terminal: Terminal, { header, messages }: ModelRequest): void {
  const { config, system, tools = [] } = header;
  const { provider, model, ...settings } = config;
  const set = Object.entries(settings).map(([name, value]) => `, ${name} ${JSON.stringify(value)}`);
  const size = `${counted(tools.length, 'tool')}, ${counted(messages.length, 'message')}`;
  terminal.line(printable(`${provider} ${model}${set.join('')}, ${size}`));
  if (system !== undefined) part(terminal, 'system', system);
  for (const { name, description } of tools) part(terminal, `tool ${oneLine(name)}`, description);
  for (const message of messages) printMessage(terminal, message);
}

function printMessage(terminal: Terminal, { role, content }: SurfaceMessage): void {
  for (const block of content) {
    switch (block.type) {
      case 'tool-call':
        part(terminal, `call ${oneLine(block.name)} ${oneLine(block.id)}`, block.arguments);
        break;
      case 'tool-result':
        part(
          terminal,
          `${block.isError ? 'error result' : 'result'} ${oneLine(block.toolCallId)}`,
          block.content.map(({ text }) => text).join(''),
        );
        break;
      default:
        part(terminal, block.type === 'reasoning' ? 'reasoning' : role, block.text);
    }
  }
}

function part(terminal: Terminal, label: string, text: string): void {
  terminal.line(terminal.style('bold', label));
  terminal.line(indented(printable(text), '    '));
}
