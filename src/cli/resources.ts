/** What commands open, and what closes again when they are done. Loaded late: `--help` needs none of it. */
import type { Client } from '@temporalio/client';
import { readDevInstance } from '../client/dev-address.ts';
import { SESSION_ID } from '../contract.ts';
import { databasePath, openDatabase } from '../session/database.ts';
import { SessionLog } from '../session/session-log.ts';
import { type Settings, settingsFrom } from '../settings.ts';
import { CommandError, EXIT } from './command-error.ts';

/** The settings of the environment. @throws SettingError, SettingsError, LogError `database-url` */
export function settings(): Settings {
  const found = settingsFrom(process.env);
  databasePath(found.databaseUrl);
  return found;
}

/**
 * Opens the log, and closes it when `use` is done.
 * @param options - `create`: makes a database that is not there; default refuses
 */
export async function withLog<T>(
  use: (log: SessionLog, settings: Settings) => Promise<T>,
  options: { create?: boolean } = {},
): Promise<T> {
  const found = settings();
  const log = new SessionLog(await openDatabase(found.databaseUrl, { create: options.create ?? false }));
  try {
    return await use(log, found);
  } finally {
    await log.close();
  }
}

/** Connects to the server that the environment names, or else to the `npm start` of this folder. */
export async function withClient<T>(use: (client: Client) => Promise<T>): Promise<T> {
  const { connectClient } = await import('../client/connect.ts');
  const client = await connectClient(readDevInstance()?.address);
  try {
    return await use(client);
  } finally {
    await client.connection.close();
  }
}

/** Checks a session id that was given. @throws CommandError `invalid-session-id` */
export function sessionId(given: string): string {
  if (SESSION_ID.test(given)) return given;
  throw new CommandError(
    'invalid-session-id',
    `session id ${JSON.stringify(given)} is not allowed: 1 to 128 of A-Z a-z 0-9 . _ -`,
    EXIT.usage,
  );
}
