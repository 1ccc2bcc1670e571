/**
 * `timeContext.callModel`: the model call of the open step. What stands is returned; else the header is logged if it
 * differs, the model is called, and its message appended.
 *
 * I11  Every write obeys one fence: the row stands → it is returned; the step is not the open one → nothing.
 * I12  The request is built from the log alone, the header included, so that it can be built again.
 */
import { randomUUID } from 'node:crypto';
import { ApplicationFailure, activityInfo, Context, heartbeat } from '@temporalio/activity';
import type {
  AssistantMessage,
  CallModelAnswer,
  EventData,
  LogEvent,
  RequestHeader,
  StepRef,
} from '../contract.ts';
import { callModel as call, type ModelAnswer } from '../model/call.ts';
import { ModelError } from '../model/model-error.ts';
import { DEFAULT_SYSTEM, MODEL_DEFAULTS, type ModelSettings } from '../model/settings.ts';
import { toolCalls } from '../session/next-step.ts';
import { isOpenStep } from '../session/project.ts';
import { type ModelRequest, messageOf, sameJson } from '../session/request.ts';
import type { LogTransaction } from '../session/session-log.ts';
import { type AgentTool, toolSchemas } from '../tools/tool.ts';
import { type ActivityContext, asActivityFailure } from './context.ts';
import { withHeartbeat } from './heartbeat.ts';
import { persist } from './persist.ts';

const NAME = 'callModel';

/** What a step's attempts tell the ones after them. */
interface Attempts {
  /** Epoch milliseconds of the first failure. */
  failingSince?: number;
}

export function callModel(context: ActivityContext) {
  const { model } = context;
  const ownHeader = model && requestHeader(model, context.tools);
  return (ref: StepRef): Promise<CallModelAnswer> =>
    asActivityFailure(async () => {
      if (!model || !ownHeader) {
        throw ApplicationFailure.nonRetryable(
          'this worker has no model; give TimeContextPlugin the option model',
          'no-model',
        );
      }
      // A heartbeat's details outlive the attempt: that a request was sent, and since when the model fails.
      const earlier = activityInfo().heartbeatDetails as Attempts | undefined;
      const prepared = await prepare(context, ref, ownHeader, earlier !== undefined);
      if ('status' in prepared) return prepared;
      return withHeartbeat(earlier ?? {}, async (signal) => {
        let answer: ModelAnswer;
        try {
          answer = await call(prepared, model, signal);
        } catch (error) {
          if (error instanceof ModelError) throw modelFailure(error, model, earlier?.failingSince);
          throw error;
        }
        return persist(context.log, NAME, (tx) => append(tx, ref, prepared.header, answer), signal);
      });
    });
}

function requestHeader(model: ModelSettings, tools: readonly AgentTool[]): RequestHeader {
  return {
    config: {
      provider: model.provider ?? MODEL_DEFAULTS.provider,
      model: model.model,
      ...(model.maxOutputTokens === undefined ? {} : { maxTokens: model.maxOutputTokens }),
      ...(model.temperature === undefined ? {} : { temperature: model.temperature }),
    },
    system: model.system ?? DEFAULT_SYSTEM,
    ...(tools.length > 0 ? { tools: toolSchemas(tools) } : {}),
  };
}

async function fence(tx: LogTransaction, ref: StepRef): Promise<CallModelAnswer | 'open'> {
  const standing = await tx.slot(ref.sessionId, ref.turnKey, ref.step, 'message');
  if (standing) return answerOf(standing);
  return isOpenStep(await tx.session(ref.sessionId), ref) ? 'open' : { status: 'superseded' };
}

async function prepare(
  context: ActivityContext,
  ref: StepRef,
  own: RequestHeader,
  sentBefore: boolean,
): Promise<CallModelAnswer | ModelRequest> {
  const { sessionId, turnKey, step } = ref;
  const ofThisStep = async (tx: LogTransaction, header: LogEvent) =>
    header.seq > (await tx.slot(sessionId, turnKey, step, 'step/start'))!.seq;
  const look = async (tx: LogTransaction) => {
    const state = await fence(tx, ref);
    if (state !== 'open') return state;
    const inForce = await tx.latestHeader(sessionId);
    const header = (inForce?.data as EventData['request/header'] | undefined)?.header;
    // A retry sends the header of the attempt that was sent first, whatever this worker's own is.
    if (inForce && header && (sameJson(header, own) || sentBefore || (await ofThisStep(tx, inForce)))) {
      return { header, messages: (await tx.surface(sessionId)).flatMap((event) => messageOf(event) ?? []) };
    }
    return { inForce };
  };
  const seen = await context.log.read(look);
  if (!('inForce' in seen)) return seen;
  const logged = await context.log.write('header', async (tx) => {
    const again = await look(tx);
    if (!('inForce' in again)) return again;
    const reason = !again.inForce
      ? 'initial'
      : (await tx.seedEndsAfter(sessionId, again.inForce.seq))
        ? 'resume'
        : 'change';
    const state = (await tx.session(sessionId))!;
    await tx.append(sessionId, state, [{ event: { type: 'request/header', data: { header: own, reason } } }]);
    return undefined;
  });
  return logged ?? prepare(context, ref, own, sentBefore);
}

async function append(
  tx: LogTransaction,
  ref: StepRef,
  { config }: RequestHeader,
  answer: ModelAnswer,
): Promise<CallModelAnswer> {
  const state = await fence(tx, ref);
  if (state !== 'open') return state;
  const session = (await tx.session(ref.sessionId))!;
  const message: AssistantMessage = {
    id: randomUUID(),
    role: 'assistant',
    content: answer.content,
    source: { kind: 'model', provider: config.provider, model: config.model },
  };
  const data: EventData['assistant/message'] = {
    turn: session.turn,
    step: session.step,
    message,
    ...(answer.usage ? { usage: answer.usage } : {}),
    ...(answer.finish === 'max-tokens' ? { finish: 'max-tokens' } : {}),
  };
  await tx.append(ref.sessionId, session, [
    { event: { type: 'assistant/message', data, surfaceOp: 'append' } },
  ]);
  return { status: 'message', calls: toolCalls(message).length, finish: answer.finish };
}

function answerOf(event: LogEvent): CallModelAnswer {
  const { message, finish } = event.data as EventData['assistant/message'];
  const calls = toolCalls(message).length;
  return { status: 'message', calls, finish: finish ?? (calls > 0 ? 'tool-calls' : 'stop') };
}

function modelFailure(
  error: ModelError,
  settings: ModelSettings,
  failingSince: number | undefined,
): ApplicationFailure {
  const now = Date.now();
  const since = failingSince ?? now;
  heartbeat({ failingSince: since } satisfies Attempts);
  const retryForMs = settings.retryForMs ?? MODEL_DEFAULTS.retryForMs;
  Context.current().log.warn('model call failed', { code: error.code, error: error.message });
  if (!error.heals)
    return ApplicationFailure.create({ type: error.code, message: error.message, nonRetryable: true });
  if (now - since >= retryForMs) {
    const message = `${error.message} (tried for ${Math.round((now - since) / 1000)} s)`;
    return ApplicationFailure.create({ type: 'model-unavailable', message, nonRetryable: true });
  }
  return ApplicationFailure.create({
    type: error.code,
    message: error.message,
    ...(error.retryAfterMs === undefined ? {} : { nextRetryDelay: error.retryAfterMs }),
  });
}
