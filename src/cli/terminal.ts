import { once } from 'node:events';
import { styleText } from 'node:util';

type Style = 'dim' | 'bold' | 'red' | 'green' | 'yellow';

/** Where a command writes: what was asked for to `stdout`, everything else to `stderr`. */
export class Terminal {
  readonly #out: NodeJS.WriteStream;
  readonly #err: NodeJS.WriteStream;

  constructor(out: NodeJS.WriteStream = process.stdout, err: NodeJS.WriteStream = process.stderr) {
    this.#out = out;
    this.#err = err;
  }

  /** Whether a person reads along. */
  get interactive(): boolean {
    return this.#out.isTTY === true;
  }

  /** A line, or several, of the result. */
  line(text = ''): void {
    this.#out.write(`${text}\n`);
  }

  /** A part of a long result; resolves when there is room for the next. */
  async part(text: string): Promise<void> {
    if (!this.#out.write(text)) await once(this.#out, 'drain');
  }

  /** Something beside the result. */
  note(text: string): void {
    this.#err.write(`${text}\n`);
  }

  /** The text in a style, where the result goes to a terminal that shows styles and nobody asked for none. */
  style(style: Style, text: string): string {
    return styled(this.#out, style, text);
  }

  /** As {@link style}, for a note. */
  noteStyle(style: Style, text: string): string {
    return styled(this.#err, style, text);
  }
}

function styled(stream: NodeJS.WriteStream, style: Style, text: string): string {
  return styleText(style, text, { stream, validateStream: true });
}

/**
 * A text that came from a model, a tool, a file or another user, as it may go to a terminal: without the control
 * characters that would move its cursor, rename its window or paint over what stands there.
 */
export function printable(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(/[\x00-\x08\x0b-\x1f]/g, (c) => String.fromCodePoint(0x2400 + c.codePointAt(0)!))
    .replace(/[\x7f-\x9f]/g, '\ufffd')
    .toWellFormed();
}

/** As {@link printable}, on one line. */
export function oneLine(text: string, length = 200): string {
  const line = printable(text).replace(/\s+/g, ' ').trim();
  return line.length > length ? `${line.slice(0, length).toWellFormed()}…` : line;
}

/** The lines of a text, each with the same in front. */
export function indented(text: string, by: string): string {
  return text
    .split('\n')
    .map((line) => (line === '' ? line : by + line))
    .join('\n');
}

/** A reader that went away, such as `head`, ends the command without a word. */
export function endOnClosedPipe(stream: NodeJS.WriteStream): void {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit();
    throw error;
  });
}
