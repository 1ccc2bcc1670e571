/**
 * `timeContext.preStep`: before a step, one transaction that returns what stands for it or decides what follows.
 *
 * I8   The workflow offers, the log answers: `logged` names every offered prompt that the log knows.
 * I9   A turn, its step, its messages and its reading are appended together or not at all.
 * I10  Another key's open turn is repaired only by the run that the server calls current.
 */
import { randomUUID } from 'node:crypto';
import { activityInfo } from '@temporalio/activity';
import type {
  AssistantMessage,
  OfferedPrompt,
  PreStepAnswer,
  PreStepArgument,
  TurnEndReason,
  UserMessage,
} from '../contract.ts';
import { zoneOfReading } from '../reading/parse.ts';
import { prepareReading } from '../reading/reading.ts';
import { acceptZone } from '../reading/zone.ts';
import { closingEvents } from '../session/close.ts';
import { LogError } from '../session/log-error.ts';
import { nextStep } from '../session/next-step.ts';
import type { SessionState } from '../session/project.ts';
import { type AppendedEvent, EMPTY_SESSION, type LogTransaction } from '../session/session-log.ts';
import { type ActivityContext, asActivityFailure, attemptDeadline, isCurrentRun } from './context.ts';
import { countReading, countUnknownZones } from './metrics.ts';

const NAME = 'preStep';

/** Rolls the transaction back: the open turn is somebody else's. */
class OtherTurnOpen extends Error {
  readonly turnKey: string | null;

  constructor(turnKey: string | null) {
    super('another turn stands open');
    this.turnKey = turnKey;
  }
}

export function preStep(context: ActivityContext) {
  return (argument: PreStepArgument): Promise<PreStepAnswer> =>
    asActivityFailure(async () => {
      const deadline = attemptDeadline();
      const decide = () => context.log.write(NAME, (tx) => decideStep(context, tx, argument), deadline);
      try {
        return await decide();
      } catch (error) {
        if (!(error instanceof OtherTurnOpen)) throw error;
        const { runId } = activityInfo().workflowExecution!;
        const current = await (context.isCurrentRun ?? isCurrentRun)(argument.sessionId, runId);
        if (!current) return { status: 'superseded' };
        await context.log.write('repair', (tx) => repair(tx, argument.sessionId, error.turnKey), deadline);
        return decide();
      }
    });
}

/** Closes an unfinished turn, if it is still the one that was seen open. */
async function repair(tx: LogTransaction, sessionId: string, turnKey: string | null): Promise<void> {
  const state = await tx.session(sessionId);
  if (!state?.turnOpen || state.turnKey !== turnKey) return;
  await tx.append(sessionId, state, await closingEvents(tx, sessionId, state, { kind: 'interrupted' }));
}

async function decideStep(
  context: ActivityContext,
  tx: LogTransaction,
  argument: PreStepArgument,
): Promise<PreStepAnswer> {
  const { sessionId, turnKey } = argument;
  const session = await tx.session(sessionId);
  if (session?.header.driver === 'foreign') {
    throw new LogError(
      'foreign-session',
      `session ${JSON.stringify(sessionId)} is driven by another loop; agentTurn does not touch it`,
    );
  }
  const offered = withoutRepeats(argument.messages);
  const known = session
    ? await tx.knownPrompts(
        sessionId,
        offered.map(({ promptId }) => promptId),
      )
    : new Set<string>();
  const fresh = offered.filter(({ promptId }) => !known.has(promptId));
  const next = nextStep({
    turnKey,
    fresh: fresh.length,
    maxSteps: context.maxSteps,
    ...(await stepFacts(tx, sessionId, turnKey, session)),
  });
  const logged = offered.filter(({ promptId }) => known.has(promptId)).map(({ promptId }) => promptId);

  switch (next.kind) {
    case 'other-turn':
      throw new OtherTurnOpen(next.turnKey);
    case 'ended':
      return { ...ended(next.turn, next.reason), logged };
    case 'closed':
      return { status: 'ended', reason: next.reason, logged };
    case 'entered':
      return { status: 'entered', turn: next.turn, step: next.step, logged };
    case 'tools':
      return { status: 'tools', turn: next.turn, step: next.step, calls: next.calls, logged };
    case 'end':
      await tx.append(sessionId, session!, [
        { event: { type: 'step/end', data: { turn: next.turn, step: next.step } } },
        { event: { type: 'turn/end', data: { turn: next.turn, reason: next.reason } } },
      ]);
      return { ...ended(next.turn, next.reason), logged };
    case 'enter': {
      if (!session) await tx.create(sessionId);
      await enterStep(context, tx, argument, session ?? EMPTY_SESSION, next, fresh.map(toMessage));
      return {
        status: 'entered',
        turn: next.turn,
        step: next.step,
        logged: offered.map(({ promptId }) => promptId),
      };
    }
  }
}

async function stepFacts(
  tx: LogTransaction,
  sessionId: string,
  turnKey: string,
  state: SessionState | undefined,
) {
  if (state?.turnOpen && state.turnKey === turnKey) {
    const message = await tx.slot(sessionId, turnKey, state.step, 'message');
    return {
      state,
      own: { turn: state.turn },
      ...(message
        ? {
            message: (message.data as { message: AssistantMessage }).message,
            answered: await tx.answeredCalls(sessionId, turnKey, state.step),
          }
        : {}),
    };
  }
  const turn = state && (await tx.turnOfKey(sessionId, turnKey));
  const closed = turn ? undefined : await tx.closedKey(sessionId, turnKey);
  const end = turn?.end && (turn.end.data as { reason: TurnEndReason }).reason;
  return {
    ...(state ? { state } : {}),
    ...(turn ? { own: { turn: turn.turn, ...(end ? { end } : {}) } } : {}),
    ...(closed ? { closed: closed as TurnEndReason['kind'] } : {}),
  };
}

async function enterStep(
  context: ActivityContext,
  tx: LogTransaction,
  { sessionId, turnKey }: PreStepArgument,
  state: SessionState,
  { turn, step }: { turn: number; step: number },
  batch: UserMessage[],
): Promise<void> {
  const latest = await tx.latestReading(sessionId);
  const baseline = step === 1 ? await tx.latestBaseline(sessionId) : undefined;
  const prepared = prepareReading(
    {
      turn,
      step,
      now: tx.now,
      turnZones: step === 1 ? [] : await tx.turnZones(sessionId, turn),
      batch,
      ...(baseline ? { baseline } : {}),
      ...(step > 1 && latest?.turn === turn ? { stepReading: { seq: latest.seq, time: latest.time } } : {}),
      ...(latest
        ? {
            latestReading: {
              seq: latest.seq,
              time: latest.time,
              shadowed: latest.shadowed,
              zone: zoneOfReading(latest.message),
            },
          }
        : {}),
    },
    context.reading,
  );
  const events: AppendedEvent[] = [];
  if (step === 1) events.push({ event: { type: 'turn/start', data: { turn, turnKey } } });
  else events.push({ event: { type: 'step/end', data: { turn, step: step - 1 } } });
  events.push({
    event: {
      type: 'step/start',
      data: { turn, step, ...(prepared.decision ? { refresh: prepared.decision } : {}) },
    },
  });
  for (const message of batch)
    events.push({ event: { type: 'user/message', data: message, surfaceOp: 'append' } });
  if (prepared.due) {
    const { text, source, reading } = prepared;
    const message: UserMessage = {
      id: randomUUID(),
      role: 'user',
      content: [{ type: 'text', text }],
      source,
      reading,
    };
    events.push({ event: { type: 'user/message', data: message, surfaceOp: 'append' } });
  }
  await tx.append(sessionId, state, events);
  tx.afterCommit(() => {
    countReading(prepared);
    countUnknownZones(prepared.unknownZones, batch);
  });
}

function ended(turn: number | undefined, reason: TurnEndReason | undefined) {
  return {
    status: 'ended' as const,
    ...(turn === undefined ? {} : { turn }),
    reason: reason?.kind ?? ('none' as const),
    ...(reason?.kind === 'error' ? { code: reason.code } : {}),
  };
}

function withoutRepeats(prompts: readonly OfferedPrompt[]): OfferedPrompt[] {
  const seen = new Set<string>();
  return prompts.filter(({ promptId }) => !seen.has(promptId) && seen.add(promptId));
}

/** A prompt as its message. A zone that is no zone here leaves the message without one; what was given is kept. */
function toMessage({ promptId, text, timeZone, clientTime, acceptedAt }: OfferedPrompt): UserMessage {
  const zone = acceptZone(timeZone);
  return {
    id: randomUUID(),
    role: 'user',
    content: [{ type: 'text', text }],
    source: { kind: 'user', rpcId: promptId, ...(zone.ok === true ? { clientTimeZone: zone.name } : {}) },
    prompt: {
      acceptedAt,
      ...(timeZone === undefined ? {} : { givenTimeZone: timeZone }),
      ...(clientTime === undefined ? {} : { clientTime }),
    },
  };
}
