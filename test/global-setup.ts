/** Once a run: a real Temporal server for all test files, and the workflows bundled once. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import type { TestProject } from 'vitest/node';
import { WORKFLOWS_PATH } from '../workers/agent-worker.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    temporalAddress: string;
    workflowBundle: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'time-context-test-'));
  const server = await startServer(folder);
  const { code } = await bundleWorkflowCode({
    workflowsPath: WORKFLOWS_PATH,
    logger: new DefaultLogger('ERROR'),
  });
  const workflowBundle = join(folder, 'workflows.js');
  await writeFile(workflowBundle, code);
  project.provide('temporalAddress', server.address);
  project.provide('workflowBundle', workflowBundle);
  return async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
}

/** The server that `TEMPORAL_ADDRESS` names, or one of our own. */
async function startServer(folder: string): Promise<{ address: string; stop(): Promise<void> }> {
  const { TEMPORAL_ADDRESS: address } = process.env;
  if (address) return { address, stop: async () => undefined };
  const { findTemporalCli } = await import('../src/dev/temporal-cli.ts');
  const { startDevServer } = await import('../src/dev/temporal-server.ts');
  const cliPath = await findTemporalCli({ log: (line) => process.stderr.write(`${line}\n`) });
  return startDevServer({ cliPath, dbFile: join(folder, 'temporal.db') });
}
