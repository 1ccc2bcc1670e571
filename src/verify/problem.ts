/** What a problem is about; the rules are those of contract §9. */
export type Rule =
  | 'header'
  | 'envelope'
  | 'surface'
  | 'data'
  | 'structure'
  | 'calls'
  | 'prompt'
  | 'refresh'
  | 'reading-missing'
  | 'reading-twice'
  | 'reading-place'
  | 'reading-shape'
  | 'reading-data'
  | 'reading-text'
  | 'reading-time'
  | 'reading-zone'
  | 'reading-elapsed'
  | 'end';

/** One thing that is wrong. `seq` names the event; null where it is the header or the end of the log. */
export interface Problem {
  seq: number | null;
  rule: Rule;
  expected: string;
  found: string;
}

/** Takes a problem of the event that is being looked at. */
export type Report = (rule: Rule, expected: string, found: string) => void;

/** A value as a problem shows it: JSON, cut where it is long. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
