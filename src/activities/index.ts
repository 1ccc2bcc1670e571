import { ACTIVITY } from '../contract.ts';
import { callModel } from './call-model.ts';
import { closeTurn } from './close-turn.ts';
import type { ActivityContext } from './context.ts';
import { preStep } from './pre-step.ts';
import { runTool } from './run-tool.ts';

/** All activities by their names on the wire. */
export function createActivities(context: ActivityContext) {
  return {
    [ACTIVITY.preStep]: preStep(context),
    [ACTIVITY.closeTurn]: closeTurn(context),
    [ACTIVITY.callModel]: callModel(context),
    [ACTIVITY.runTool]: runTool(context),
  };
}
