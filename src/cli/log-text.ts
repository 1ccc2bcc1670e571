import { endText, type ShownItem } from '../client/show.ts';
import { counted } from './counted.ts';
import { indented, oneLine, printable, type Terminal } from './terminal.ts';

const LABEL = 11;
const INDENT = '    ';
/** Lines and characters of a tool's result that are shown; `export` has the rest. */
const RESULT_LINES = 12;
const RESULT_CHARS = 1_000;

/** Writes a session's log as a person reads it: turns, steps, and what stands in them. */
export class LogText {
  readonly #terminal: Terminal;
  /** Types without a presentation that came one after the other, told together. */
  #others = new Map<string, number>();

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  print(item: ShownItem): void {
    if (item.kind === 'other') {
      this.#others.set(item.type, (this.#others.get(item.type) ?? 0) + 1);
      return;
    }
    this.end();
    const terminal = this.#terminal;
    switch (item.kind) {
      case 'turn':
        terminal.line('');
        terminal.line(
          `${terminal.style('bold', `turn ${item.turn}`)}  ${terminal.style('dim', new Date(item.time).toISOString())}`,
        );
        return;
      case 'step':
        terminal.line(`  step ${item.step}`);
        return;
      case 'prompt': {
        this.#labelled('prompt', printable(item.text));
        this.#detail(promptDetail(item));
        return;
      }
      case 'message':
        this.#labelled(oneLine(item.from, 40), printable(item.text));
        return;
      case 'reading':
        this.#labelled('reading', printable(item.text), 'dim');
        return;
      case 'request': {
        const tools = item.tools.length > 0 ? `; tools ${item.tools.join(', ')}` : '';
        this.#labelled('request', oneLine(`${item.model} (${item.provider})${tools}`, 1_000), 'dim');
        return;
      }
      case 'assistant':
        if (item.reasoning !== undefined) this.#labelled('reasoning', printable(item.reasoning), 'dim');
        if (item.text !== '') this.#labelled('assistant', printable(item.text));
        if (item.text === '' && item.calls.length > 0) {
          this.#labelled(
            'assistant',
            `asks for ${item.calls.map(({ name }) => oneLine(name)).join(', ')}`,
            'dim',
          );
        }
        if (item.cut) this.#detail('cut off');
        return;
      case 'call':
        this.#labelled('call', oneLine(`${item.name} ${item.arguments}`, RESULT_CHARS));
        return;
      case 'result':
        this.#labelled(item.error === undefined ? 'result' : `error`, excerpt(item.text));
        if (item.error !== undefined) this.#detail(oneLine(item.error));
        return;
      case 'consumed':
        terminal.line(
          `${INDENT}prompt ${oneLine(item.promptId)} was ${oneLine(item.outcome)} by ${oneLine(item.by)}`,
        );
        return;
      case 'turn-end': {
        const text = oneLine(endText(item.reason), 2_000);
        terminal.line(`  ${item.reason.kind === 'completed' ? text : terminal.style('yellow', text)}`);
        return;
      }
      case 'seed-end':
        terminal.line(terminal.style('dim', '  — what stands above came from a fork or an import —'));
    }
  }

  /** Tells what was held back. Call it after the last item. */
  end(): void {
    for (const [type, count] of this.#others) {
      this.#terminal.line(
        this.#terminal.style('dim', `${INDENT}${counted(count, 'event')} ${oneLine(type, 80)}`),
      );
    }
    this.#others.clear();
  }

  #labelled(label: string, text: string, style?: 'dim'): void {
    const pad = ' '.repeat(INDENT.length + LABEL);
    const body = indented(text, pad).slice(pad.length);
    const shown = `${INDENT}${label.padEnd(LABEL)}${body}`;
    this.#terminal.line(style ? this.#terminal.style(style, shown) : shown);
  }

  #detail(text: string): void {
    if (text !== '') this.#labelled('', text, 'dim');
  }
}

function promptDetail({ promptId, timeZone, givenTimeZone }: Extract<ShownItem, { kind: 'prompt' }>): string {
  const parts: string[] = [];
  if (promptId !== undefined) parts.push(`id ${oneLine(promptId)}`);
  if (timeZone !== undefined) parts.push(`from ${oneLine(timeZone)}`);
  if (givenTimeZone !== undefined && givenTimeZone !== timeZone)
    parts.push(`given as ${oneLine(givenTimeZone)}`);
  return parts.join(', ');
}

/** The beginning of a long text, and how much was left out. */
export function excerpt(text: string): string {
  const whole = printable(text).trimEnd();
  let shown = whole.split('\n').slice(0, RESULT_LINES).join('\n');
  if (shown.length > RESULT_CHARS) shown = shown.slice(0, RESULT_CHARS).toWellFormed();
  const rest = whole.length - shown.length;
  return rest > 0 ? `${shown}\n… ${counted(rest, 'more character')}` : shown;
}
