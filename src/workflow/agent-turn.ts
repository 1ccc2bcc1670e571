/**
 * One turn of a session as one workflow run. It holds prompts until the log has them and follows the log's answers;
 * it knows no clock but the acceptance instant of a prompt, no zone and no SQL.
 */
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  condition,
  isCancellation,
  makeContinueAsNewFunc,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import {
  ACTIVITY,
  type AgentTurnArgument,
  type AgentTurnResult,
  type CallModelAnswer,
  type CloseTurnAnswer,
  type CloseTurnArgument,
  LIMIT,
  type PreStepAnswer,
  type PreStepArgument,
  type RunToolAnswer,
  type RunToolArgument,
  SESSION_ID,
  type StepRef,
  type TurnEndReason,
  WORKFLOW_ID_PREFIX,
} from '../contract.ts';
import { carriedPrompts, checkShape, checkZoneShape, Inbox, shown, startPrompt } from './inbox.ts';
import { promptUpdate, updatePrompt } from './prompt-update.ts';

/** While the database is away the turn waits on timers of the server: nothing is lost, however long. */
const transaction = proxyLocalActivities<{
  [ACTIVITY.preStep](argument: PreStepArgument): Promise<PreStepAnswer>;
  [ACTIVITY.closeTurn](argument: CloseTurnArgument): Promise<CloseTurnAnswer>;
}>({
  startToCloseTimeout: LIMIT.transactionMs,
  localRetryThreshold: '1s',
  retry: { initialInterval: '200ms', maximumInterval: '30s' },
});

/** How long a failing model is tried again is the activity's to say; a lost worker is noticed after ten seconds. */
const outside = proxyActivities<{
  [ACTIVITY.callModel](ref: StepRef): Promise<CallModelAnswer>;
  [ACTIVITY.runTool](argument: RunToolArgument): Promise<RunToolAnswer>;
}>({
  startToCloseTimeout: '15 minutes',
  heartbeatTimeout: '10s',
  cancellationType: 'TRY_CANCEL',
  retry: { initialInterval: '1s', maximumInterval: '30s' },
});

const FIRST_PROMPT_WAIT = '1 minute';
/** The server refuses a run with thousands of activities pending, and a worker has so many slots. */
const TOOLS_AT_ONCE = 16;

/** Workflow `agentTurn`, id `session:<sessionId>`. */
export async function agentTurn(argument: AgentTurnArgument): Promise<AgentTurnResult> {
  const { workflowId, runId, originalExecutionRunId } = workflowInfo();
  // Anybody can start a workflow with any argument, or none: it is checked below.
  const { sessionId, prompt, carried } = Object(argument) as AgentTurnArgument;
  checkSession(sessionId, workflowId);
  const inbox = new Inbox();
  for (const offered of carriedPrompts(carried)) inbox.accept(offered);
  if (prompt && !carried) {
    const started = startPrompt(prompt, originalExecutionRunId);
    inbox.check(started);
    inbox.accept({ ...started, acceptedAt: Date.now() });
  }
  // Set before the first await, and after all that can fail the run: an update that came with the start finds the inbox
  // as it stands, and a run that fails has acknowledged nothing.
  setHandler(
    promptUpdate,
    (update) => {
      const accepted = updatePrompt(update);
      inbox.accept({ ...accepted, acceptedAt: Date.now() });
      return { sessionId, promptId: accepted.promptId, runId };
    },
    {
      validator: (update) => {
        const offered = updatePrompt(update);
        checkShape(offered);
        checkZoneShape(offered);
        inbox.check(offered);
      },
    },
  );

  const turn = new Turn(sessionId, carried?.turnKey ?? originalExecutionRunId, inbox, carried?.step);
  const result = await turn.run();
  if (result === 'continued') {
    const { turnKey, step } = turn;
    return makeContinueAsNewFunc<typeof agentTurn>()({
      sessionId,
      carried: { inbox: inbox.prompts, turnKey, step },
    });
  }
  if (inbox.size > 0 && result.reason !== 'superseded') {
    // The next turn is nobody's continuation: it may start on a newer worker.
    const next = makeContinueAsNewFunc<typeof agentTurn>({ initialVersioningBehavior: 'AUTO_UPGRADE' });
    return next({ sessionId, carried: { inbox: inbox.prompts } });
  }
  return result;
}

function checkSession(sessionId: string, workflowId: string): void {
  if (typeof sessionId !== 'string' || !SESSION_ID.test(sessionId)) {
    throw ApplicationFailure.nonRetryable(
      `session id ${shown(sessionId)} is not allowed: 1 to 128 of A-Z a-z 0-9 . _ -`,
      'invalid-session-id',
    );
  }
  if (workflowId !== WORKFLOW_ID_PREFIX + sessionId) {
    // One run per workflow id is the session's lock: under another id two turns could run at once.
    throw ApplicationFailure.nonRetryable(
      `the workflow id is ${shown(workflowId)}, for this session it must be ${JSON.stringify(WORKFLOW_ID_PREFIX + sessionId)}`,
      'wrong-workflow-id',
    );
  }
}

class Turn {
  readonly turnKey: string;
  /** The step that is asked for next. The log's answer decides which one it is. */
  step: number;
  readonly #sessionId: string;
  readonly #inbox: Inbox;
  readonly #continues: boolean;
  readonly #root = CancellationScope.current();

  constructor(sessionId: string, turnKey: string, inbox: Inbox, carriedStep: number | undefined) {
    this.turnKey = turnKey;
    this.step = carriedStep ?? 1;
    this.#sessionId = sessionId;
    this.#inbox = inbox;
    this.#continues = carriedStep !== undefined;
  }

  async run(): Promise<AgentTurnResult | 'continued'> {
    try {
      return await this.#steps();
    } catch (error) {
      if (isCancellation(error) && this.#root.consideredCancelled)
        return this.#close({ kind: 'aborted', cause: 'user' });
      // A pre-step that cannot heal (a session of another driver) fails the run: there is no turn to close.
      if (error instanceof ActivityFailure && error.activityType !== ACTIVITY.preStep)
        return this.#close(failed(error));
      throw error;
    }
  }

  async #steps(): Promise<AgentTurnResult | 'continued'> {
    if (!this.#continues) await condition(() => this.#inbox.size > 0, FIRST_PROMPT_WAIT);
    for (;;) {
      const answer = await this.#preStep();
      if (answer.status === 'superseded') return { reason: 'superseded' };
      if (answer.status === 'ended') return this.#ended(answer);
      this.#throwIfCancelled();
      const { step } = answer;
      if (answer.status === 'tools') {
        await this.#runTools(step, answer.calls);
      } else {
        const called = await outside[ACTIVITY.callModel](this.#ref(step));
        if (called.status === 'message') {
          if (called.finish === 'max-tokens') return this.#close({ kind: 'max-tokens' });
          await this.#runTools(
            step,
            Array.from({ length: called.calls }, (_, index) => index),
          );
        }
      }
      this.step = step + 1;
      this.#throwIfCancelled();
      if (workflowInfo().continueAsNewSuggested) return 'continued';
    }
  }

  /** Not cancellable: once asked, the log's answer is what stands. */
  async #preStep(): Promise<PreStepAnswer> {
    const messages = this.#inbox.prompts;
    const answer = await CancellationScope.nonCancellable(() =>
      transaction[ACTIVITY.preStep]({ ...this.#ref(this.step), messages }),
    );
    if (answer.status !== 'superseded') this.#inbox.drop(answer.logged);
    return answer;
  }

  async #runTools(step: number, calls: number[]): Promise<void> {
    for (let from = 0; from < calls.length; from += TOOLS_AT_ONCE) {
      const group = calls.slice(from, from + TOOLS_AT_ONCE);
      await Promise.all(group.map((index) => outside[ACTIVITY.runTool]({ ...this.#ref(step), index })));
    }
  }

  async #close(reason: TurnEndReason): Promise<AgentTurnResult> {
    const { turnKey } = this;
    const answer = await CancellationScope.nonCancellable(() =>
      transaction[ACTIVITY.closeTurn]({ sessionId: this.#sessionId, turnKey, reason }),
    );
    if (answer.status === 'ended') return resultOf(answer.turn, answer.reason, answer.code);
    return { reason: answer.status === 'closed' ? 'no-prompt' : 'superseded' };
  }

  #ended(answer: Extract<PreStepAnswer, { status: 'ended' }>): AgentTurnResult {
    if (answer.turn !== undefined && answer.reason !== 'none')
      return resultOf(answer.turn, answer.reason, answer.code);
    return { reason: answer.logged.length > 0 ? 'known-prompt' : 'no-prompt' };
  }

  #throwIfCancelled(): void {
    if (this.#root.consideredCancelled) throw new CancelledFailure('the turn was cancelled');
  }

  #ref(step: number): StepRef {
    return { sessionId: this.#sessionId, turnKey: this.turnKey, step };
  }
}

function resultOf(turn: number, reason: TurnEndReason['kind'], code: string | undefined): AgentTurnResult {
  return { turn, reason, ...(code === undefined ? {} : { code }) };
}

/** The end of a turn whose activity failed for good, in the words of what it met. */
function failed({ cause }: ActivityFailure): TurnEndReason {
  if (cause instanceof ApplicationFailure)
    return { kind: 'error', message: cause.message, code: cause.type ?? 'error' };
  return { kind: 'error', message: cause?.message ?? 'the activity failed', code: 'activity-failed' };
}
