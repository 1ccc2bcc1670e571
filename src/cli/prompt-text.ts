import { LIMIT } from '../contract.ts';
import { CommandError } from './command-error.ts';

/**
 * The text of a prompt from the standard input, without its last line's end, as shells do. It stops reading where no
 * host would take more.
 */
export async function promptFromStdin(stdin: AsyncIterable<Buffer> = process.stdin): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of stdin) {
    parts.push(part);
    size += part.length;
    // One more for the line's end that is taken off.
    if (size > LIMIT.promptBytes + 2) {
      throw new CommandError(
        'prompt-too-large',
        `the prompt has more than ${LIMIT.promptBytes} bytes, which are allowed`,
      );
    }
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(parts));
    return text.replace(/\r?\n$/, '');
  } catch {
    throw new CommandError('invalid-prompt', 'the standard input is not UTF-8 text');
  }
}
