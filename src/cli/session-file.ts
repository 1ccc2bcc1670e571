import { createReadStream, type ReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { ExchangeError } from '../verify/file.ts';
import { CommandError } from './command-error.ts';

/**
 * Reads a session file that a user named; errors name it as he did.
 * @param use - is given the file's bytes
 * @throws CommandError `file-unreadable`, `exchange-invalid`
 */
export async function withSessionFile<T>(path: string, use: (bytes: ReadStream) => Promise<T>): Promise<T> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => unreadable(path, error));
  if (found.isDirectory()) {
    throw new CommandError('file-unreadable', `${path} is a folder; name a file that export wrote`);
  }
  const bytes = createReadStream(path);
  try {
    return await use(bytes);
  } catch (error) {
    if (error instanceof ExchangeError) {
      const empty = found.isFile() && found.size === 0;
      throw new CommandError(error.code, `${path}: ${empty ? 'the file is empty' : error.message}`);
    }
    if ((error as NodeJS.ErrnoException).syscall !== undefined) {
      return unreadable(path, error as NodeJS.ErrnoException);
    }
    throw error;
  } finally {
    bytes.destroy();
  }
}

function unreadable(path: string, { code, message }: NodeJS.ErrnoException): never {
  const why =
    code === 'ENOENT' || code === 'ENOTDIR'
      ? 'there is no such file'
      : code === 'EACCES'
        ? 'this user may not read it'
        : message;
  throw new CommandError('file-unreadable', `${path} cannot be read: ${why}`);
}
