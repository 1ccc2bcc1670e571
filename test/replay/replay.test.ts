import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  bundleWorkflowCode,
  DefaultLogger,
  Runtime,
  Worker,
  type WorkflowBundleWithSourceMap,
} from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { beforeAll, describe, expect, inject, it } from 'vitest';

const FOLDER = fileURLToPath(new URL('./histories/', import.meta.url));
const FILES = readdirSync(FOLDER).filter((name) => name.endsWith('.json'));

// The failures below are wanted; their log lines are not.
Runtime.install({
  logger: new DefaultLogger('ERROR', () => undefined),
  telemetryOptions: { logging: { filter: 'OFF' } },
});

const historyIn = (file: string) => JSON.parse(readFileSync(`${FOLDER}${file}`, 'utf8'));

describe('recorded histories replay with today’s workflow', () => {
  it('there are the histories that the product promises', () => {
    expect(FILES.length).toBeGreaterThanOrEqual(8);
  });

  it.each(FILES)('%s', async (file) => {
    const workflowBundle = { codePath: inject('workflowBundle') };
    await Worker.runReplayHistory({ workflowBundle, replayName: file }, historyIn(file), 'session:recorded');
  });
});

describe('the test of the test', () => {
  let changedActivity: { code: string };
  let addedTimer: WorkflowBundleWithSourceMap;

  beforeAll(async () => {
    const code = readFileSync(inject('workflowBundle'), 'utf8');
    changedActivity = { code: code.replaceAll('timeContext.callModel', 'timeContext.changed') };
    expect(changedActivity.code).not.toBe(code);
    const workflowsPath = fileURLToPath(new URL('./changed.ts', import.meta.url));
    addedTimer = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') });
  });

  it.each(FILES)('a workflow with a timer more fails on %s', async (file) => {
    const replay = Worker.runReplayHistory(
      { workflowBundle: addedTimer },
      historyIn(file),
      'session:recorded',
    );
    await expect(replay).rejects.toThrow(DeterminismViolationError);
  });

  it('a workflow with one activity changed fails on 0.1.0-tools.json', async () => {
    const replay = Worker.runReplayHistory(
      { workflowBundle: changedActivity as never },
      historyIn('0.1.0-tools.json'),
      'session:recorded',
    );
    await expect(replay).rejects.toThrow(DeterminismViolationError);
  });
});
