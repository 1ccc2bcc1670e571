/**
 * SQLite through `node:sqlite`, behind Kysely's own dialect. The driver blocks the thread, so it waits for a
 * lock 50 ms at most and the waiting between tries is asynchronous.
 */
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDialect,
  SqliteDriver,
  type SqliteStatement,
  type TransactionSettings,
} from 'kysely';
import { LogError } from './log-error.ts';

const BUSY_TIMEOUT_MS = 50;
const BUSY_GIVE_UP_MS = 4_000;
const SQLITE_BUSY = 5;
const CACHED_STATEMENTS = 200;

/**
 * @param path - the database file; made if it is not there, its folder must be.
 */
export function sqliteDialect(path: string): SqliteDialect {
  return new BusyWaitingDialect({ database: async () => openFile(path) });
}

class BusyWaitingDialect extends SqliteDialect {
  readonly #config: ConstructorParameters<typeof SqliteDialect>[0];

  constructor(config: ConstructorParameters<typeof SqliteDialect>[0]) {
    super(config);
    this.#config = config;
  }

  override createDriver(): Driver {
    return new BusyWaitingDriver(this.#config);
  }

  override createAdapter(): SqliteAdapter {
    return new TransactionalAdapter();
  }
}

/** SQLite's DDL obeys transactions: a migration and its record are one, whatever dies or starts at the same time. */
class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

class BusyWaitingDriver extends SqliteDriver {
  /** A writing transaction takes the write lock at once: two that read first and write later would deadlock. */
  override async beginTransaction(
    connection: DatabaseConnection,
    settings?: TransactionSettings,
  ): Promise<void> {
    const begin = CompiledQuery.raw(settings?.accessMode === 'read only' ? 'begin' : 'begin immediate');
    const givenUp = performance.now() + BUSY_GIVE_UP_MS;
    for (let wait = 2; ; wait = Math.min(wait * 2, 100)) {
      try {
        await connection.executeQuery(begin);
        return;
      } catch (error) {
        if (primaryCode(error) !== SQLITE_BUSY) throw error;
        if (performance.now() > givenUp) {
          throw new LogError(
            'database-busy',
            `the database stayed locked for ${BUSY_GIVE_UP_MS / 1000} s; nothing was written`,
          );
        }
        await sleep(wait * (0.5 + Math.random()));
      }
    }
  }
}

/** SQLite's primary result code: after a crash its codes are extended ones, such as BUSY_RECOVERY. */
export function primaryCode(error: unknown): number | undefined {
  const { errcode } = error as { errcode?: number };
  return errcode === undefined ? undefined : errcode & 0xff;
}

function openFile(path: string): SqliteDatabase {
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    database.exec('pragma journal_mode = wal');
    database.exec('pragma synchronous = full');
    database.exec('pragma foreign_keys = on');
    database.prepare('select count(*) from sqlite_master').get();
  } catch (error) {
    database.close();
    throw error;
  }
  return new CachingDatabase(database);
}

/** Keeps prepared statements: the hot path runs the same dozen over and over. */
class CachingDatabase implements SqliteDatabase {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, SqliteStatement>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  close(): void {
    this.#database.close();
  }

  prepare(sql: string): SqliteStatement {
    const cached = this.#statements.get(sql);
    if (cached) return cached;
    const statement = new Statement(this.#database.prepare(sql));
    if (this.#statements.size < CACHED_STATEMENTS) this.#statements.set(sql, statement);
    return statement;
  }
}

type Value = null | number | bigint | string | Uint8Array;

class Statement implements SqliteStatement {
  readonly #statement: StatementSync;
  readonly reader: boolean;

  constructor(statement: StatementSync) {
    this.#statement = statement;
    this.reader = statement.columns().length > 0;
  }

  all(parameters: ReadonlyArray<unknown>): unknown[] {
    return this.#statement.all(...(parameters as Value[]));
  }

  run(parameters: ReadonlyArray<unknown>) {
    return this.#statement.run(...(parameters as Value[]));
  }

  iterate(parameters: ReadonlyArray<unknown>): IterableIterator<unknown> {
    return this.#statement.iterate(...(parameters as Value[]));
  }
}
