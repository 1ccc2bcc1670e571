import { DatabaseSync } from 'node:sqlite';

/**
 * Takes a lock that the operating system gives back when this process ends, however it ends: SQLite's own, on a file
 * that holds nothing else.
 * @returns the release, or null where another process, or another holder in this one, has it
 */
export function takeFileLock(path: string): (() => void) | null {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return null;
    throw error;
  }
  return () => database.close();
}

const SQLITE_BUSY = 5;
