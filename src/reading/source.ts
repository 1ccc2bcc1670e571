import { type PluginSource, READING_PLUGIN } from '../contract.ts';

/** The source of a reading, and nothing else in it (contract §1). */
export function readingSource(text: string): PluginSource {
  return {
    kind: 'plugin',
    plugin: READING_PLUGIN,
    form: 'snapshot',
    sections: [{ name: READING_PLUGIN, text }],
  };
}

/** Whether a source is exactly that of a reading with this text: no field more, none less. Key order does not count. */
export function isExactReadingSource(source: unknown, text: string): boolean {
  if (!hasExactly(source, ['kind', 'plugin', 'form', 'sections'])) return false;
  const { kind, plugin, form, sections } = source;
  if (kind !== 'plugin' || plugin !== READING_PLUGIN || form !== 'snapshot') return false;
  if (!Array.isArray(sections) || sections.length !== 1) return false;
  const section: unknown = sections[0];
  return hasExactly(section, ['name', 'text']) && section.name === READING_PLUGIN && section.text === text;
}

function hasExactly<Key extends string>(value: unknown, keys: Key[]): value is Record<Key, unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.keys(value).length === keys.length &&
    keys.every((key) => Object.hasOwn(value, key))
  );
}
