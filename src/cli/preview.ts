import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import type { UserMessage } from '../contract.ts';
import { usageError } from './command-error.ts';
import { ordinal } from './ordinal.ts';
import { printable, type Terminal } from './terminal.ts';

interface PreviewOptions {
  turn: number;
  step: number;
  now: string;
  timeZone?: string;
  batch?: string;
  fallbackZone?: string;
  userTimeZone?: string;
  refreshIntervalMs?: string;
  json?: true;
}

/** `preview FILE`: what the next pre-step would say. */
export function previewCommand(program: Command, terminal: Terminal): void {
  program
    .command('preview')
    .description('say what the next step of an exported session would be told; nothing is written')
    .argument('<file>', 'a file that export wrote')
    .requiredOption('--turn <n>', 'the turn of that step', (given) => ordinal('--turn', given))
    .requiredOption('--step <n>', 'the step', (given) => ordinal('--step', given))
    .requiredOption('--now <instant>', 'the clock: RFC 3339, such as 2026-07-15T01:01:01Z')
    .option('--time-zone <zone>', 'the batch is one prompt from a browser in this zone')
    .option('--batch <file>', 'the batch: a JSON array of messages; [] is a tool continuation')
    .option('--fallback-zone <zone>', "the option timeZone; default this process's zone")
    .option('--user-time-zone <zone>', 'the option userTimeZone')
    .option('--refresh-interval-ms <n>', 'the option refreshIntervalMs')
    .option('--json', 'print one JSON object, { due, text, reading }')
    .action((file: string, options: PreviewOptions) => run(terminal, file, options));
}

async function run(terminal: Terminal, file: string, options: PreviewOptions): Promise<void> {
  const { turn, step, timeZone, json } = options;
  const now = await instant(options.now);
  if (timeZone !== undefined && options.batch !== undefined) {
    throw usageError('--time-zone and --batch both say what the batch is; give one of them');
  }
  const { preview, promptFromZone } = await import('../verify/preview.ts');
  const { readExchange } = await import('../verify/file.ts');
  const { withSessionFile } = await import('./session-file.ts');
  const settings = await settingsOf(options);
  const batch =
    options.batch === undefined
      ? timeZone === undefined
        ? []
        : promptFromZone(timeZone)
      : await batchFromFile(options.batch);
  const said = await withSessionFile(file, async (bytes) => {
    const { header, events } = await readExchange(bytes);
    return preview(header, events, { turn, step, now, batch, settings });
  });
  if (json) terminal.line(JSON.stringify(said));
  else terminal.line(said.due ? printable(said.text) : 'no reading is due');
}

/** Options win over the environment's settings; an error names the one that was given. */
async function settingsOf({ fallbackZone, userTimeZone, refreshIntervalMs }: PreviewOptions) {
  const { READING_NAMES, settingsFrom } = await import('../settings.ts');
  const { readingOptionsFromText, readingSettings } = await import('../reading/settings.ts');
  const names = {
    ...READING_NAMES,
    ...(fallbackZone === undefined ? {} : { timeZone: '--fallback-zone' }),
    ...(userTimeZone === undefined ? {} : { userTimeZone: '--user-time-zone' }),
    ...(refreshIntervalMs === undefined ? {} : { refreshIntervalMs: '--refresh-interval-ms' }),
  };
  const given = readingOptionsFromText({ refreshIntervalMs }, names);
  if (refreshIntervalMs === '') throw usageError('--refresh-interval-ms needs a number of milliseconds');
  const process_ = {
    timeZone: new Intl.DateTimeFormat('en-US').resolvedOptions().timeZone,
    tzdata: process.versions.tz,
  };
  return readingSettings(
    {
      ...settingsFrom(process.env).reading,
      ...given,
      ...(fallbackZone === undefined ? {} : { timeZone: fallbackZone }),
      ...(userTimeZone === undefined ? {} : { userTimeZone }),
    },
    process_,
    names,
  );
}

async function batchFromFile(path: string): Promise<UserMessage[]> {
  const { batchFromJson } = await import('../verify/preview.ts');
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw usageError(`--batch ${path} cannot be read: ${(error as Error).message}`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw usageError(`--batch ${path} is not JSON: ${(error as Error).message}`);
  }
  return batchFromJson(value);
}

const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

/** Epoch milliseconds of an RFC 3339 instant. */
async function instant(given: string): Promise<number> {
  if (RFC_3339.test(given)) {
    try {
      return (await import('temporal-polyfill')).Temporal.Instant.from(given).epochMilliseconds;
    } catch {
      // The 30th of February, the 25th hour.
    }
  }
  throw usageError(
    `--now is ${JSON.stringify(given)}; allowed: an RFC 3339 instant with its offset, such as 2026-07-15T01:01:01Z`,
  );
}
