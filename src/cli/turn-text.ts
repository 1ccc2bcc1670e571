import type { ShownItem } from '../client/show.ts';
import { excerpt } from './log-text.ts';
import { indented, oneLine, printable, type Terminal } from './terminal.ts';

/** Writes a turn as it goes on: what the model was told dimmed, what it said plain. Its end is the caller's to tell. */
export class TurnText {
  readonly #terminal: Terminal;
  readonly #promptId: string | undefined;

  /** @param promptId - the prompt that is being answered: it stands on the screen already */
  constructor(terminal: Terminal, promptId?: string) {
    this.#terminal = terminal;
    this.#promptId = promptId;
  }

  print(item: ShownItem): void {
    switch (item.kind) {
      case 'prompt':
        if (item.promptId !== this.#promptId) this.#dim(`another prompt: ${oneLine(item.text, 500)}`);
        return;
      case 'message':
        this.#dim(`${oneLine(item.from, 40)}: ${oneLine(item.text, 500)}`);
        return;
      case 'reading':
        this.#dim(printable(item.text));
        return;
      case 'assistant':
        if (item.text !== '') this.#terminal.line(printable(item.text));
        return;
      case 'call':
        this.#dim(`→ ${oneLine(`${item.name} ${item.arguments}`, 500)}`);
        return;
      case 'result':
        this.#dim(`← ${item.error === undefined ? '' : `${oneLine(item.error)}: `}${excerpt(item.text)}`);
        return;
      default:
    }
  }

  #dim(text: string): void {
    this.#terminal.line(this.#terminal.style('dim', indented(text, '  ')));
  }
}
