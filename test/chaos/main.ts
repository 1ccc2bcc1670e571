/** `npm run chaos -- --seed N --seconds S`: prints the seed, the progress, and the audit; exits 1 on a finding. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { Command, InvalidArgumentError } from 'commander';
import { WORKFLOWS_PATH } from '../../workers/agent-worker.ts';
import { chaos } from './chaos.ts';

const whole = (text: string) => {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('a whole number is needed');
  return Number(text);
};

const { seed, seconds, sessions } = new Command('chaos')
  .option('--seed <n>', 'decides when workers die and what is asked', whole, Date.now() % 1_000_000)
  .option('--seconds <n>', 'how long', whole, 60)
  .option('--sessions <n>', 'how many sessions are prompted', whole, 8)
  .parse()
  .opts<{ seed: number; seconds: number; sessions: number }>();

const folder = await mkdtemp(join(tmpdir(), 'time-context-chaos-'));
try {
  process.stdout.write(`seed ${seed}, ${seconds} s, ${sessions} sessions\n`);
  const workflowBundle = join(folder, 'workflows.js');
  const { code } = await bundleWorkflowCode({
    workflowsPath: WORKFLOWS_PATH,
    logger: new DefaultLogger('ERROR'),
  });
  await writeFile(workflowBundle, code);
  const result = await chaos({
    seed,
    seconds,
    sessions,
    workflowBundle,
    log: (line) => process.stdout.write(`${line}\n`),
  });
  process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
  process.exitCode = result.findings.length === 0 ? 0 : 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}
