/** The workflow's files use nothing that reads the real clock in the sandbox, and import nothing that could. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, inject, it } from 'vitest';

const FOLDER = fileURLToPath(new URL('../../src/workflow/', import.meta.url));
/** Each file's code, comments left out. */
const FILES = readdirSync(FOLDER).map(
  (name) => [name, readFileSync(`${FOLDER}${name}`, 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')] as const,
);

/** What reads another clock than the workflow's, or its zone. */
const FORBIDDEN = /\bIntl\b|\bTemporal\.|\bperformance\b|toLocale|getTimezoneOffset|temporal-polyfill|node:/;

describe('P01: workflow code', () => {
  it.each(FILES)('%s reads no real clock and no zone', (_, source) => {
    expect(source).not.toMatch(FORBIDDEN);
  });

  it.each(FILES)(
    '%s imports the workflow SDK, the contract and its neighbours, nothing else',
    (_, source) => {
      const imported = [...source.matchAll(/from '([^']+)'/g)].map(([, from]) => from!);
      for (const from of imported)
        expect(from).toMatch(/^(@temporalio\/workflow|\.\.\/contract\.ts|\.\/[a-z-]+\.ts)$/);
    },
  );

  it('the check sees what it forbids', () => {
    expect('const now = Temporal.Now.instant()').toMatch(FORBIDDEN);
    expect("new Intl.DateTimeFormat('en-US').format()").toMatch(FORBIDDEN);
  });

  it('the bundle holds no zone data and no other half of the package', () => {
    const bundle = readFileSync(inject('workflowBundle'), 'utf8');
    expect(bundle).toContain('timeContext.preStep');
    expect(bundle).not.toMatch(/temporal-polyfill|kysely|Asia\/Kolkata/);
  });
});
