import type { EventData, LogEvent, RefreshDecision, SessionHeader, UserMessage } from '../contract.ts';
import { isReading, promptZone, SURFACE_TYPES } from '../reading/classify.ts';
import type { EventPoint } from '../reading/elapsed.ts';
import { type LogFacts, ReadingFold } from '../reading/fold.ts';
import { StepCalls } from './calls.ts';
import { checkReading, type Peculiarity } from './check-reading.ts';
import { checkRefresh, isRefreshDecision } from './check-refresh.ts';
import { answeredCall, checkData } from './data.ts';
import { checkEnvelope, checkHeader } from './envelope.ts';
import { type Problem, type Report, type Rule, shown } from './problem.ts';
import { PromptIds } from './prompt-ids.ts';
import { SurfaceNodes } from './surface-nodes.ts';

export interface VerifyOptions {
  /** The log is finished: an open turn at its end is a problem, not a note. */
  closed?: boolean;
}

/** The open step, as far as it has been read. */
interface OpenStep {
  step: number;
  /** The `seq` of its `step/start`. */
  seq: number;
  /** What the log said before the batch. */
  before: LogFacts;
  surfaceEvent: EventPoint | undefined;
  refresh: RefreshDecision | undefined;
  /** `acceptedAt` of the batch's newest prompt. */
  acceptedAt: number | undefined;
  reading: number | undefined;
  /** Something followed that only comes after the batch. */
  batchEnded: boolean;
  /** The request was recorded. */
  requested: boolean;
  message: number | undefined;
  calls: StepCalls;
}

/**
 * Checks a log event by event, in order: a whole log in one pass, or each event as it is appended (contract §9).
 * Besides the ids of prompts and one bit an event, its memory does not grow with the log.
 */
export class LogVerifier {
  readonly #header: SessionHeader;
  readonly #fold: ReadingFold;
  readonly #surface = new SurfaceNodes();
  readonly #prompts = new PromptIds();
  readonly #peculiarities = new Map<Peculiarity, number>();
  #found: Problem[] = [];
  #seq: number | null = null;
  #next = 0;
  #turns = 0;
  #readings = 0;
  /** The last turn, and whether it is open. */
  #turn = 0;
  #turnOpen = false;
  /** The turn is of this product: its readings carry their facts as data. */
  #ours = false;
  /** The turn is of our loop, whose steps have a known shape. */
  #ourLoop = false;
  #zones = new Set<string>();
  /** Steps that the turn has had. */
  #steps = 0;
  #step: OpenStep | undefined;
  #surfaceEvent: EventPoint | undefined;

  constructor(header: SessionHeader) {
    this.#header = header;
    this.#fold = new ReadingFold(this.#surface.keys);
    checkHeader(header, this.#report);
  }

  get counts(): { events: number; readings: number; turns: number } {
    return { events: this.#next, readings: this.#readings, turns: this.#turns };
  }

  /** Problems of the header, for a caller that checks event by event. */
  takeProblems(): Problem[] {
    const found = this.#found;
    this.#found = [];
    return found;
  }

  /** Takes the next event. @returns what is wrong with it, or with what it closes */
  check(event: LogEvent): Problem[] {
    const expected = this.#next;
    this.#seq = expected;
    this.#next += 1;
    if (checkEnvelope(event, expected, this.#surface, this.#report)) {
      this.#seq = event.seq;
      // One gap is one problem, not one an event.
      this.#next = event.seq + 1;
      if (checkData(event, this.#report)) {
        this.#structure(event);
        this.#fold.feed(event);
        if (SURFACE_TYPES.has(event.type)) this.#surfaceEvent = { seq: event.seq, time: event.time };
      }
    }
    return this.takeProblems();
  }

  /** Ends the pass. @returns problems of the end, and notes that are no problems */
  finish({ closed = false }: VerifyOptions = {}): { problems: Problem[]; notes: string[] } {
    this.#endBatch();
    this.#seq = null;
    const { seedLength } = this.#header ?? {};
    if (typeof seedLength === 'number' && seedLength > this.#next) {
      this.#report('header', `seedLength of at most ${this.#next} events`, `seedLength ${seedLength}`);
    }
    const notes: string[] = [];
    if (this.#turnOpen) {
      const open = `turn ${this.#turn}${this.#step ? `, step ${this.#step.step}` : ''} is open at the end of the log`;
      if (closed) this.#report('end', 'a log whose turns are closed', open);
      else notes.push(open);
    }
    for (const [peculiarity, count] of this.#peculiarities)
      notes.push(`${count} ${count === 1 ? 'reading' : 'readings'} ${PECULIARITIES[peculiarity]}`);
    return { problems: this.takeProblems(), notes };
  }

  readonly #report: Report = (rule: Rule, expected: string, found: string): void => {
    this.#found.push({ seq: this.#seq, rule, expected, found });
  };

  #structure(event: LogEvent): void {
    switch (event.type) {
      case 'turn/start':
        this.#turnStart(event.data as EventData['turn/start']);
        break;
      case 'turn/end':
        this.#turnEnd(event.data as EventData['turn/end']);
        break;
      case 'step/start':
        this.#stepStart(event as LogEvent<'step/start', EventData['step/start']>);
        break;
      case 'step/end':
        this.#stepEnd(event.data as EventData['step/end']);
        break;
      case 'user/message':
        this.#userMessage(event as LogEvent<'user/message', UserMessage>);
        break;
      case 'request/header':
      case 'request/context':
        this.#request(event.type);
        break;
      case 'assistant/message':
        this.#assistantMessage(event as LogEvent<'assistant/message', EventData['assistant/message']>);
        break;
      case 'tool/call':
        this.#toolCall(event.data as EventData['tool/call']);
        break;
      case 'tool/result':
        this.#toolResult(event as LogEvent<'tool/result', EventData['tool/result']>);
        break;
      case 'prompt/consumed':
        this.#prompts.check(event, this.#report);
        break;
    }
  }

  #turnStart({ turn, turnKey }: EventData['turn/start']): void {
    if (this.#turnOpen)
      this.#report(
        'structure',
        `turn ${this.#turn} closed before the next`,
        `turn/start ${turn} while it is open`,
      );
    if (turn !== this.#turn + 1) this.#report('structure', `turn ${this.#turn + 1}`, `turn ${turn}`);
    this.#endBatch();
    this.#turns += 1;
    this.#turn = turn;
    this.#turnOpen = true;
    this.#ours = turnKey !== undefined;
    this.#ourLoop = this.#ours && this.#header?.driver !== 'foreign';
    this.#zones = new Set();
    this.#steps = 0;
    this.#step = undefined;
  }

  #turnEnd({ turn }: EventData['turn/end']): void {
    this.#endBatch();
    if (!this.#turnOpen) this.#report('structure', 'an open turn', `turn/end ${turn} outside one`);
    else if (turn !== this.#turn) this.#report('structure', `turn/end ${this.#turn}`, `turn/end ${turn}`);
    if (this.#step) this.#report('structure', `step/end ${this.#step.step} before turn/end`, 'none');
    this.#turnOpen = false;
    this.#step = undefined;
  }

  #stepStart({ seq, data }: LogEvent<'step/start', EventData['step/start']>): void {
    const { turn, step, refresh } = data;
    this.#endBatch();
    if (!this.#turnOpen || turn !== this.#turn) {
      this.#report(
        'structure',
        this.#turnOpen ? `a step of turn ${this.#turn}` : 'an open turn',
        `step/start of turn ${turn}`,
      );
    }
    if (this.#step)
      this.#report('structure', `step/end ${this.#step.step} before the next step`, `step/start ${step}`);
    if (step !== this.#steps + 1) this.#report('structure', `step ${this.#steps + 1}`, `step ${step}`);
    const decided = refresh === undefined || isRefreshDecision(refresh);
    if (!decided) this.#report('refresh', 'intervalMs from 1, due, at, and known occasions', shown(refresh));
    this.#steps = step;
    this.#step = {
      step,
      seq,
      before: this.#fold.facts(this.#turn),
      surfaceEvent: this.#surfaceEvent,
      refresh: decided ? refresh : undefined,
      acceptedAt: undefined,
      reading: undefined,
      batchEnded: false,
      requested: false,
      message: undefined,
      calls: new StepCalls(),
    };
  }

  #stepEnd({ turn, step }: EventData['step/end']): void {
    this.#endBatch();
    this.#inStep('step/end', turn, step);
    const unanswered = this.#ourLoop && this.#step ? this.#step.calls.unanswered() : [];
    if (unanswered.length > 0)
      this.#report('calls', 'a result of each call before step/end', `none of ${unanswered.join(', ')}`);
    this.#step = undefined;
  }

  #userMessage(event: LogEvent<'user/message', UserMessage>): void {
    this.#prompts.check(event, this.#report);
    if (isReading(event)) {
      this.#reading(event);
      return;
    }
    // A replacement stands for what was said before, wherever it is written.
    if (event.surfaceOp !== 'append') return;
    const step = this.#step;
    const { prompt } = event.data;
    if (step?.reading !== undefined && step.message === undefined && !step.requested) {
      this.#report(
        'reading-place',
        `reading ${step.reading} as the last message of its batch`,
        'a message after it',
      );
    }
    if (prompt !== undefined || (this.#ourLoop && this.#turnOpen)) {
      if (!step) this.#report('structure', 'a message inside an open step', 'one outside');
      else if (step.message !== undefined || step.requested)
        this.#report('structure', 'the messages of a step before its request', 'one after it');
    }
    if (step && typeof prompt?.acceptedAt === 'number')
      step.acceptedAt = Math.max(step.acceptedAt ?? 0, prompt.acceptedAt);
    const zone = promptZone(event.data);
    if (zone !== undefined && this.#turnOpen) this.#zones.add(zone);
  }

  #reading(event: LogEvent<'user/message', UserMessage>): void {
    this.#readings += 1;
    const step = this.#step;
    if (!step) {
      this.#report('reading-place', 'a reading inside an open step', 'one outside');
      return;
    }
    if (step.reading !== undefined) {
      this.#report(
        'reading-twice',
        `one reading in turn ${this.#turn}, step ${step.step}, as event ${step.reading}`,
        'another',
      );
    }
    if (step.requested || step.message !== undefined) {
      this.#report(
        'reading-place',
        'a reading before the request of its step',
        step.message === undefined ? 'one after it' : `one after message ${step.message}`,
      );
    }
    if (step.refresh?.due === false) this.#report('refresh', 'no reading: it was not due', 'a reading');
    step.reading ??= event.seq;
    const { baseline, stepReading } = step.before;
    const peculiarities = checkReading(
      event,
      {
        turn: this.#turn,
        step: step.step,
        ours: this.#ours,
        turnZones: this.#zones,
        baseline,
        stepReading,
        surfaceEvent: step.surfaceEvent,
        acceptedAt: step.acceptedAt,
        refresh: step.refresh,
      },
      this.#report,
    );
    for (const each of peculiarities) this.#peculiarities.set(each, (this.#peculiarities.get(each) ?? 0) + 1);
  }

  #request(type: string): void {
    this.#endBatch();
    if (!this.#turnOpen) this.#report('structure', 'an open turn', `${type} outside one`);
    else if (!this.#step && this.#ourLoop) this.#report('structure', 'an open step', `${type} outside one`);
    if (this.#step) this.#step.requested = true;
  }

  #assistantMessage({
    seq,
    data,
    surfaceOp,
  }: LogEvent<'assistant/message', EventData['assistant/message']>): void {
    if (surfaceOp !== 'append') return;
    this.#endBatch();
    if (!this.#inStep('assistant/message', data.turn, data.step)) return;
    const step = this.#step!;
    if (step.message !== undefined)
      this.#report('structure', `one assistant message a step, event ${step.message}`, 'another');
    step.message ??= seq;
    step.calls.ask(data.message);
  }

  #toolCall({ turn, step, callId }: EventData['tool/call']): void {
    this.#endBatch();
    if (!this.#inStep('tool/call', turn, step)) return;
    const asked = this.#step!.calls.log(callId);
    if (!asked && this.#ourLoop)
      this.#report('calls', 'a call that the message of the step asks for', `call ${callId}`);
  }

  #toolResult({ data, surfaceOp }: LogEvent<'tool/result', EventData['tool/result']>): void {
    // A pruned copy answers nothing anew.
    if (surfaceOp !== 'append') return;
    this.#endBatch();
    if (!this.#inStep('tool/result', data.turn, data.step)) return;
    const callId = answeredCall(data)!;
    if (!this.#step!.calls.answer(callId))
      this.#report('calls', 'a result of a call of the step that has none yet', `a result of call ${callId}`);
  }

  #inStep(type: string, turn: number, step: number): boolean {
    const open = this.#turnOpen ? this.#step : undefined;
    if (open && turn === this.#turn && step === open.step) return true;
    const expected = open ? `turn ${this.#turn}, step ${open.step}` : 'an open step';
    this.#report('structure', expected, `${type} of turn ${turn}, step ${step}`);
    return open !== undefined;
  }

  /** The batch of the open step is whole: what must stand in it does, or never will. */
  #endBatch(): void {
    const step = this.#step;
    if (!step || step.batchEnded) return;
    step.batchEnded = true;
    const at = this.#seq;
    this.#seq = step.seq;
    const { refresh } = step;
    if (refresh) checkRefresh(refresh, step.before.latestReading, this.#zones, this.#report);
    // Another's loop takes readings as it likes; ours takes one wherever no decision was against it.
    const needed = this.#ourLoop && refresh?.due !== false;
    if (step.reading === undefined && (needed || refresh?.due)) {
      this.#report('reading-missing', `a reading in turn ${this.#turn}, step ${step.step}`, 'none');
    }
    this.#seq = at;
  }
}

const PECULIARITIES: Record<Peculiarity, string> = {
  'foreign-wording': 'in the words of DeepSeek Harness',
  'without-data': 'without their facts as data',
  'unknown-zone': 'with a zone that the writing runtime did not know',
  'foreign-baseline': 'counted from a message that is no baseline here, as DeepSeek Harness does',
};
