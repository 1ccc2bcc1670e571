/** A tool call that a prompt asks for in so many words. `arguments` is JSON text. */
export interface ToolRequest {
  name: string;
  arguments: string;
}

const NUMBER = String.raw`(?<value>[-+−]?\d[\d.,]*)`;
const UNIT_WORD = String.raw`[\p{L}°µ%][\p{L}°µ/²³]*`;
const UNIT_PREFIX = String.raw`(?:(?:nautical|imperial|imp|us|fluid|fl|short|long|metric|degrees?)\s+)*`;
const unit = (name: string) => String.raw`(?<${name}>${UNIT_PREFIX}${UNIT_WORD}(?:\s+per\s+\p{L}+)?)`;
const CONVERT = new RegExp(
  String.raw`\bconvert\s+${NUMBER}\s*${unit('from')}\s+(?:to|into|in)\s+${unit('to')}`,
  'giu',
);
const FETCH = /\b(?:fetch|get|open|read|download)\s+(https?:\/\/\S+)/giu;
const CALL = /^\s*(?:call|use)\s+(?:the\s+)?(?:tool\s+)?(?<name>[A-Za-z0-9_-]+)\s*(?<args>\{.*\})?\s*$/su;

/** A prompt that is nothing but `call <tool> {"its": "arguments"}`; what stands in braces goes out as it is. */
export function explicitCall(prompt: string): ToolRequest | null {
  const groups = CALL.exec(prompt)?.groups;
  return groups ? { name: groups.name!, arguments: groups.args ?? '{}' } : null;
}

/**
 * The tool calls that a prompt asks for in its own words, in its order: `convert 10 km to miles`, `fetch https://…`.
 * @param text - of a long prompt an excerpt, since these patterns look at all of it
 */
export function spokenCalls(text: string): ToolRequest[] {
  const found: { at: number; request: ToolRequest }[] = [];
  for (const match of text.matchAll(CONVERT)) {
    const { value, from, to } = match.groups as { value: string; from: string; to: string };
    const number = readNumber(value);
    if (number === null) continue;
    const args = { value: number, from: from.trim(), to: to.trim() };
    found.push({ at: match.index, request: { name: 'convert_units', arguments: JSON.stringify(args) } });
  }
  for (const match of text.matchAll(FETCH)) {
    const url = withoutPunctuation(match[1]!);
    found.push({ at: match.index, request: { name: 'http_get', arguments: JSON.stringify({ url }) } });
  }
  return found.sort((a, b) => a.at - b.at).map(({ request }) => request);
}

/** A URL at the end of a sentence or in quotes takes their marks along; a bracket that it opens is its own. */
function withoutPunctuation(url: string): string {
  return url.replace(url.includes('(') ? /[.,;:!?\]}>"'`’”]+$/u : /[.,;:!?)\]}>"'`’”]+$/u, '');
}

/** `1,000.5` and `2,5` are both numbers that people write; null where the text is neither. */
function readNumber(text: string): number | null {
  let digits = text.replace('−', '-').replace(/[.,]+$/, '');
  if (/^[-+]?\d{1,3}(,\d{3})+(\.\d+)?$/.test(digits)) digits = digits.replaceAll(',', '');
  else if (/^[-+]?\d+,\d+$/.test(digits)) digits = digits.replace(',', '.');
  const number = Number(digits);
  return Number.isFinite(number) ? number : null;
}
