import { constants } from 'node:fs';
import { access, mkdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { Kysely } from 'kysely';
import { Migrator } from 'kysely/migration';
import { LogError } from './log-error.ts';
import { migrations } from './migrations.ts';
import { primaryCode, sqliteDialect } from './sqlite.ts';
import type { Tables } from './tables.ts';

export type Database = Kysely<Tables>;

/** The default of `DATABASE_URL`: one file under the working folder, shared by worker, host and command line. */
export const DEFAULT_DATABASE_URL = 'file:.time-context/sessions.db';

/** The path in a `file:` URL, relative to the working folder. @throws LogError `database-url` for any other URL. */
export function databasePath(url: string): string {
  const path = url.startsWith('file:') ? url.slice('file:'.length).replace(/^\/\/(?=\/)/, '') : '';
  if (!path) {
    throw new LogError(
      'database-url',
      `DATABASE_URL is ${JSON.stringify(redact(url))}; allowed: file:<path> for SQLite. Example: ${DEFAULT_DATABASE_URL}`,
    );
  }
  return resolve(path);
}

/**
 * Opens the database and brings its schema up to date.
 *
 * @param url - `file:<path>`; the file and its folder are made if they are not there.
 * @param options - `create: false` refuses a file that is not there, for commands that only read.
 * @throws LogError `database-url`, `database-missing`, `database-unusable` (names the file and the cause).
 */
export async function openDatabase(
  url: string = DEFAULT_DATABASE_URL,
  options: { create?: boolean } = {},
): Promise<Database> {
  const path = databasePath(url);
  const exists = await stat(path).then(
    () => true,
    () => false,
  );
  if (!exists && options.create === false) {
    throw new LogError(
      'database-missing',
      `there is no database at ${path}; start the worker first (npm start), or set DATABASE_URL`,
    );
  }
  let database: Database | undefined;
  try {
    // One folder, not the whole path: a wrong path is an error, not a tree of new folders.
    if (!exists) await makeFolder(dirname(path));
    else await access(path, constants.R_OK | constants.W_OK);
    database = new Kysely<Tables>({ dialect: sqliteDialect(path) });
    await migrate(database);
    return database;
  } catch (error) {
    await database?.destroy();
    if (error instanceof LogError) throw error;
    throw new LogError('database-unusable', `the database ${path} cannot be used: ${causeOf(error)}`, {
      cause: error,
    });
  }
}

async function makeFolder(path: string): Promise<void> {
  await mkdir(path).catch((error) => {
    if (error.code !== 'EEXIST') throw error;
  });
}

async function migrate(database: Database): Promise<void> {
  const migrator = new Migrator({
    db: database,
    provider: { getMigrations: async () => migrations },
    migrationTableName: 'schema_migrations',
    migrationLockTableName: 'schema_migrations_lock',
  });
  // Only a migration takes the write lock: a reader does not wait for a long writer.
  const known = await migrator.getMigrations();
  if (known.every(({ executedAt }) => executedAt !== undefined)) return;
  const { error } = await migrator.migrateToLatest();
  if (error) throw error;
}

function causeOf(error: unknown): string {
  const { code, message } = error as { code?: string; message?: string };
  const errcode = primaryCode(error);
  if (code === 'EACCES' || errcode === 8)
    return 'it is read-only for this user; allow writing to the file and its folder';
  if (code === 'ENOENT')
    return 'its folder’s parent does not exist; make it, or choose another path in DATABASE_URL';
  if (errcode === 26) return 'it is not a SQLite database; choose another path in DATABASE_URL';
  if (errcode === 14)
    return 'it cannot be opened; check that it is a file and that its folder can be written';
  return message ?? String(error);
}

/** A URL as it may be shown: without the password. */
function redact(url: string): string {
  return url.replace(/(\/\/[^:/@]*):[^@]*@/, '$1:***@');
}
