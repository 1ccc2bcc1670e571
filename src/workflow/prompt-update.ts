import { currentUpdateInfo, defineUpdate } from '@temporalio/workflow';
import { PROMPT_UPDATE, type PromptArgument, type PromptReceipt } from '../contract.ts';

/** The update `prompt`; its update id is the prompt id. */
export const promptUpdate = defineUpdate<PromptReceipt, [PromptArgument]>(PROMPT_UPDATE);

/** The prompt of the update that is being handled or validated, under its update id. */
export function updatePrompt(prompt: PromptArgument): PromptArgument & { promptId: string } {
  // Clients of other languages send null for what is absent.
  const { text, timeZone, clientTime } = Object(prompt) as PromptArgument;
  return {
    promptId: currentUpdateInfo()!.id,
    text,
    ...(timeZone == null ? {} : { timeZone }),
    ...(clientTime == null ? {} : { clientTime }),
  };
}
