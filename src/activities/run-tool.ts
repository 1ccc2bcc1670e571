/**
 * `timeContext.runTool`: one call of the step's message. `tool/call` stands before the tool runs; a call found
 * standing without a result was lost, and is run again only if its tool says that this is safe.
 */
import { ApplicationFailure } from '@temporalio/activity';
import type {
  AssistantMessage,
  EventData,
  RunToolAnswer,
  RunToolArgument,
  ToolCallBlock,
} from '../contract.ts';
import { errorResult, toolResult } from '../session/close.ts';
import { toolCalls } from '../session/next-step.ts';
import { isOpenStep } from '../session/project.ts';
import type { AppendedEvent, LogTransaction } from '../session/session-log.ts';
import { runTool as run } from '../tools/run-tool.ts';
import type { AgentTool } from '../tools/tool.ts';
import { type ActivityContext, asActivityFailure } from './context.ts';
import { withHeartbeat } from './heartbeat.ts';
import { persist } from './persist.ts';

const NAME = 'runTool';
const LOST =
  'The call may or may not have taken effect: the process that ran it was lost. Check before calling again.';

export function runTool(context: ActivityContext) {
  return (ref: RunToolArgument): Promise<RunToolAnswer> =>
    asActivityFailure(async () => {
      const begun = await context.log.write('toolCall', (tx) => begin(tx, ref, context.tools));
      if ('status' in begun) return begun;
      const { turn, call } = begun;
      const idempotencyKey = `${ref.sessionId}/${turn}/${ref.step}/${ref.index}`;
      return withHeartbeat(undefined, async (signal) => {
        const outcome = await run(context.tools, call, { idempotencyKey, signal, now: context.log.now });
        // A cancel or a shutdown is no outcome of the tool: the turn closes the call, or a later attempt runs it.
        signal.throwIfAborted();
        const data: EventData['tool/result'] = outcome.ok
          ? { turn, step: ref.step, message: toolResult(call, outcome.text, false) }
          : errorResult(turn, ref.step, call, outcome.code, outcome.text);
        return persist(context.log, NAME, (tx) => answer(tx, ref, data), signal);
      });
    });
}

/** The fence: the result stands, or the step is not the open one. */
async function fence(tx: LogTransaction, ref: RunToolArgument): Promise<RunToolAnswer | undefined> {
  if (await tx.slot(ref.sessionId, ref.turnKey, ref.step, `result:${ref.index}`))
    return { status: 'answered' };
  return isOpenStep(await tx.session(ref.sessionId), ref) ? undefined : { status: 'superseded' };
}

async function begin(
  tx: LogTransaction,
  ref: RunToolArgument,
  tools: readonly AgentTool[],
): Promise<RunToolAnswer | { turn: number; call: ToolCallBlock }> {
  const stands = await fence(tx, ref);
  if (stands) return stands;
  const { sessionId, turnKey, step, index } = ref;
  const event = await tx.slot(sessionId, turnKey, step, 'message');
  const call = event && toolCalls((event.data as { message: AssistantMessage }).message)[index];
  if (!call) throw ApplicationFailure.nonRetryable(`step ${step} has no call ${index}`, 'no-such-call');
  const state = (await tx.session(sessionId))!;
  const { turn } = state;
  if (await tx.slot(sessionId, turnKey, step, `call:${index}`)) {
    if (tools.find(({ name }) => name === call.name)?.retry === 'safe') return { turn, call };
    await tx.append(sessionId, state, [
      resultEvent(index, errorResult(turn, step, call, 'outcome-unknown', LOST)),
    ]);
    return { status: 'answered' };
  }
  const data = { turn, step, callId: call.id, name: call.name, arguments: call.arguments };
  await tx.append(sessionId, state, [{ event: { type: 'tool/call', data }, slot: `call:${index}` }]);
  return { turn, call };
}

async function answer(
  tx: LogTransaction,
  ref: RunToolArgument,
  data: EventData['tool/result'],
): Promise<RunToolAnswer> {
  const stands = await fence(tx, ref);
  if (stands) return stands;
  await tx.append(ref.sessionId, (await tx.session(ref.sessionId))!, [resultEvent(ref.index, data)]);
  return { status: 'answered' };
}

function resultEvent(index: number, data: EventData['tool/result']): AppendedEvent {
  return { event: { type: 'tool/result', data, surfaceOp: 'append' }, slot: `result:${index}` };
}
