import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';

export { agentTurn } from '../src/workflow/index.ts';

const local = proxyLocalActivities<{ bareLocal(): Promise<void> }>({ startToCloseTimeout: '5s' });
const outside = proxyActivities<{ bareModel(): Promise<void>; bareTool(): Promise<void> }>({
  startToCloseTimeout: '1 minute',
});

/** What a step costs on Temporal alone: a no-op local activity and two no-op activities, one after the other. */
export async function bareTurn(steps: number): Promise<void> {
  for (let step = 0; step < steps; step += 1) {
    await local.bareLocal();
    await outside.bareModel();
    await outside.bareTool();
  }
}
