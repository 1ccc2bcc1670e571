import { expect, inject, it } from 'vitest';
import { chaos } from './chaos.ts';

it('loses and doubles nothing while the worker is killed at random for a minute', {
  timeout: 400_000,
}, async () => {
  const seed = Date.now() % 1_000_000;
  process.stdout.write(`chaos seed ${seed}; again with: npm run chaos -- --seed ${seed} --seconds 60\n`);
  const result = await chaos({ seed, seconds: 60, workflowBundle: inject('workflowBundle') });
  process.stdout.write(`${JSON.stringify(result)}\n`);
  expect(result.findings).toEqual([]);
  // Nobody cancels and the model does not fail: a crash must not end a turn in any other way.
  expect(Object.keys(result.reasons)).toEqual(['completed']);
  expect(result.kills).toBeGreaterThan(4);
  expect(result.prompts).toBeGreaterThan(20);
});
