import { existsSync } from 'node:fs';
import { type LogEvent, SESSION_ID, type SessionHeader } from '../contract.ts';
import { CommandError } from './command-error.ts';

/** What a command reads: a session of the log, or a file as it was named. */
export type Source = { session: string } | { file: string };

type Use<T> = (header: SessionHeader, events: AsyncIterable<LogEvent>, source: Source) => Promise<T>;

/** Reads what a user named, a session or a file. */
export function withSessionOrFile<T>(given: string, use: Use<T>): Promise<T> {
  return isFile(given) ? withFile(given, use) : withSession(given, use);
}

/** A name with a path or an ending is a file's; so is one that no session could have. */
function isFile(given: string): boolean {
  return /[/\\]|\.jsonl?$/.test(given) || !SESSION_ID.test(given);
}

async function withFile<T>(file: string, use: Use<T>): Promise<T> {
  const { withSessionFile } = await import('./session-file.ts');
  const { readExchange } = await import('../verify/file.ts');
  return withSessionFile(file, async (bytes) => {
    const { header, events } = await readExchange(bytes);
    return use(header, events, { file });
  });
}

async function withSession<T>(session: string, use: Use<T>): Promise<T> {
  const { withLog } = await import('./resources.ts');
  try {
    return await withLog(async (log) => use(await log.header(session), log.events(session), { session }));
  } catch (error) {
    const { code } = error as { code?: string };
    if (code !== 'unknown-session' && code !== 'database-missing') throw error;
    if (existsSync(session)) return withFile(session, use);
    throw code === 'database-missing'
      ? error
      : new CommandError(code, `there is no session and no file ${JSON.stringify(session)}`);
  }
}
