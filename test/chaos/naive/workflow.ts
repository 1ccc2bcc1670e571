/**
 * The variant that loses prompts, kept to test the crash test: the workflow says what a step contains, and what was
 * written first for a step is what every attempt gets back.
 */
import { condition, proxyLocalActivities, setHandler } from '@temporalio/workflow';
import { promptUpdate, updatePrompt } from '../../../src/workflow/prompt-update.ts';
import type { NaiveActivities } from './activities.ts';

const { naiveStep } = proxyLocalActivities<NaiveActivities>({ startToCloseTimeout: '5s' });

export async function agentTurn({ sessionId }: { sessionId: string }): Promise<{ steps: number }> {
  const inbox: string[] = [];
  setHandler(promptUpdate, (prompt) => {
    const { promptId } = updatePrompt(prompt);
    inbox.push(promptId);
    return { sessionId, promptId, runId: '' };
  });
  await condition(() => inbox.length > 0);
  for (let step = 1; ; step += 1) {
    // What is offered is taken to be entered: the answer does not say otherwise.
    const { ended } = await naiveStep({ sessionId, step, prompts: inbox.splice(0) });
    if (ended) return { steps: step };
  }
}
