/**
 * The log: what stands about sessions, in SQL. Every writer is one transaction that reads, decides, appends.
 *
 * I1  A session's `seq` is contiguous from 0: appends to one session are serialised by the database.
 * I2  Appending is all or nothing, and an event once written is never changed.
 * I3  What must be unique is unique in SQL: (session, seq), (session, prompt id), (session, turn key, step, slot).
 * I4  The look-up columns are a fold of the events: deleting them and projecting again gives the same values.
 */
import { createHash } from 'node:crypto';
import type { Insertable, Selectable, Transaction } from 'kysely';
import {
  FORMAT_VERSION,
  type LogEvent,
  type NewEvent,
  type SessionHeader,
  type SurfaceOp,
  type UserMessage,
} from '../contract.ts';
import { answeredCall } from '../verify/data.ts';
import type { Database } from './database.ts';
import { losslessJson } from './json.ts';
import { LogError } from './log-error.ts';
import { advance, EMPTY_SESSION, project, type SessionState, slotOf } from './project.ts';
import type { EventsTable, SessionsTable, Tables } from './tables.ts';

/** Bodies above this many characters go to the blob table, by digest. */
const INLINE_BODY = 256 * 1024;
const PAGE = 500;
const INSERT_ROWS = 100;

/** Told of every commit; tests end the process here. */
export type CommitHook = (activity: string, phase: 'before' | 'after') => void | Promise<void>;

export interface LogOptions {
  /** Wall clock, epoch milliseconds. */
  now?: () => number;
  onCommit?: CommitHook;
}

export interface AppendedEvent {
  event: NewEvent | (Omit<LogEvent, 'seq' | 'time'> & { time?: number });
  /** Unique within (turn key, step); default from the event's type. */
  slot?: string;
}

export class SessionLog {
  readonly #database: Database;
  readonly #onCommit: CommitHook | undefined;
  readonly now: () => number;

  constructor(database: Database, options: LogOptions = {}) {
    this.#database = database;
    this.#onCommit = options.onCommit;
    this.now = options.now ?? Date.now;
  }

  close(): Promise<void> {
    return this.#database.destroy();
  }

  /**
   * Runs one writing transaction. It rolls back when `decide` throws, and when it outlived `deadlineMs`:
   * a late attempt must not write after another one was started in its place.
   *
   * @param activity - the writer's name, given to the commit hook
   * @param deadlineMs - on `performance.now()`'s scale
   */
  async write<T>(
    activity: string,
    decide: (tx: LogTransaction) => Promise<T>,
    deadlineMs = Number.POSITIVE_INFINITY,
  ): Promise<T> {
    let done: LogTransaction | undefined;
    const refuseLate = () => {
      if (performance.now() <= deadlineMs) return;
      throw new LogError(
        'too-late',
        `${activity} took longer than its attempt may; rolled back, nothing was written`,
      );
    };
    const result = await this.#database.transaction().execute(async (sql) => {
      refuseLate();
      const tx = new LogTransaction(sql, this.now);
      const answer = await decide(tx);
      refuseLate();
      if (tx.wrote) await this.#onCommit?.(activity, 'before');
      done = tx;
      return answer;
    });
    if (done?.wrote) await this.#onCommit?.(activity, 'after');
    done?.committed();
    return result;
  }

  /** Runs `look` on one snapshot of the database. */
  read<T>(look: (tx: LogTransaction) => Promise<T>): Promise<T> {
    return this.#database
      .transaction()
      .setAccessMode('read only')
      .execute((sql) => look(new LogTransaction(sql, this.now)));
  }

  /** The header of a session. @throws LogError `unknown-session` */
  async header(sessionId: string): Promise<SessionHeader> {
    const row = await this.#database
      .selectFrom('sessions')
      .selectAll()
      .where('session_id', '=', sessionId)
      .executeTakeFirst();
    if (!row) throw new LogError('unknown-session', `there is no session ${JSON.stringify(sessionId)}`);
    return headerOf(row);
  }

  /** Ids and sizes of all sessions, oldest first. */
  async sessions(): Promise<
    { sessionId: string; createdAt: number; events: number; turns: number; open: boolean }[]
  > {
    const rows = await this.#database
      .selectFrom('sessions')
      .selectAll()
      .orderBy('created_at')
      .orderBy('session_id')
      .execute();
    return rows.map((row) => ({
      sessionId: row.session_id,
      createdAt: row.created_at,
      events: row.next_seq,
      turns: row.turn,
      open: row.turn_open === 1,
    }));
  }

  /** The events of a session from `fromSeq` on, in order, a page at a time: memory stays flat. */
  async *events(sessionId: string, fromSeq = 0): AsyncGenerator<LogEvent> {
    for (let from = fromSeq; ; ) {
      const rows = await this.#database
        .selectFrom('events')
        .leftJoin('blobs', 'blobs.digest', 'events.blob')
        .select(['seq', 'type', 'time', 'data', 'surface_op', 'source_seqs', 'blobs.body'])
        .where('session_id', '=', sessionId)
        .where('seq', '>=', from)
        .orderBy('seq')
        .limit(PAGE)
        .execute();
      for (const row of rows) yield eventOf(row);
      if (rows.length < PAGE) return;
      from = rows[rows.length - 1]!.seq + 1;
    }
  }

  /** Where a prompt stands: its turn, and whether that ended. Undefined while the log does not know it. */
  async promptPlace(
    sessionId: string,
    promptId: string,
  ): Promise<{ turn: number | null; step: number | null; seq: number } | undefined> {
    return this.#database
      .selectFrom('events')
      .select(['turn', 'step', 'seq'])
      .where('session_id', '=', sessionId)
      .where('prompt_id', '=', promptId)
      .executeTakeFirst();
  }

  /** Remembers the namespace that this database serves, or compares. @throws LogError `other-namespace` */
  async claimNamespace(namespace: string): Promise<void> {
    const known = await this.#database
      .selectFrom('meta')
      .select('value')
      .where('name', '=', 'namespace')
      .executeTakeFirst();
    if (known === undefined) {
      await this.#database
        .insertInto('meta')
        .values({ name: 'namespace', value: namespace })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      return this.claimNamespace(namespace);
    }
    if (known.value !== namespace) {
      throw new LogError(
        'other-namespace',
        `this database serves the Temporal namespace ${JSON.stringify(known.value)}, the worker runs in ${JSON.stringify(namespace)}; give each namespace its own DATABASE_URL`,
      );
    }
  }
}

type EventRow = Pick<EventsTable, 'seq' | 'type' | 'time' | 'data' | 'surface_op' | 'source_seqs'> & {
  body: string | null;
};

function eventOf(row: EventRow): LogEvent {
  return {
    seq: row.seq,
    type: row.type,
    time: row.time,
    data: JSON.parse((row.data ?? row.body)!),
    ...(row.surface_op === null ? {} : { surfaceOp: JSON.parse(row.surface_op) as SurfaceOp }),
    ...(row.source_seqs === null ? {} : { sourceEventSeqs: JSON.parse(row.source_seqs) as number[] }),
  };
}

function headerOf(row: Selectable<SessionsTable>): SessionHeader {
  const { version, ...rest } = JSON.parse(row.header) as { version: number };
  return { type: 'session', version, id: row.session_id, createdAt: row.created_at, ...rest };
}

/** What one transaction may ask and write. Look-ups are by index: they cost the same however long the log is. */
export class LogTransaction {
  readonly #sql: Transaction<Tables>;
  readonly #now: () => number;
  #instant: number | undefined;
  wrote = false;
  readonly #afterCommit: (() => void)[] = [];

  constructor(sql: Transaction<Tables>, now: () => number) {
    this.#sql = sql;
    this.#now = now;
  }

  /** The clock, read once a transaction, after its lock was taken: a reading and its event share the instant. */
  get now(): number {
    this.#instant ??= this.#now();
    return this.#instant;
  }

  /** What is to be done once the transaction stands, such as counting it. */
  afterCommit(work: () => void): void {
    this.#afterCommit.push(work);
  }

  /** Called by the log, after its commit. */
  committed(): void {
    for (const work of this.#afterCommit) work();
  }

  async session(sessionId: string): Promise<(SessionState & { header: SessionHeader }) | undefined> {
    const row = await this.#sql
      .selectFrom('sessions')
      .selectAll()
      .where('session_id', '=', sessionId)
      .executeTakeFirst();
    return (
      row && {
        header: headerOf(row),
        nextSeq: row.next_seq,
        turn: row.turn,
        turnKey: row.turn_key,
        turnOpen: row.turn_open === 1,
        step: row.step,
        stepOpen: row.step_open === 1,
      }
    );
  }

  /** Makes the session's row. @throws LogError `session-exists` */
  async create(sessionId: string, header: Partial<SessionHeader> = {}): Promise<void> {
    const { type: _type, id: _id, createdAt, version = FORMAT_VERSION, ...rest } = header;
    try {
      await this.#sql
        .insertInto('sessions')
        .values({
          session_id: sessionId,
          created_at: createdAt ?? this.now,
          header: losslessJson({ version, ...rest }),
          next_seq: 0,
          turn: 0,
          turn_key: null,
          turn_open: 0,
          step: 0,
          step_open: 0,
        })
        .execute();
      this.wrote = true;
    } catch (error) {
      if (await this.session(sessionId)) {
        throw new LogError(
          'session-exists',
          `there is a session ${JSON.stringify(sessionId)} already; choose another id`,
        );
      }
      throw error;
    }
  }

  /** Puts another header in the place of the session's own; its id and age stay. */
  async putHeader(sessionId: string, header: SessionHeader): Promise<void> {
    const { type: _type, id: _id, createdAt: _createdAt, ...rest } = header;
    await this.#sql
      .updateTable('sessions')
      .set({ header: losslessJson(rest) })
      .where('session_id', '=', sessionId)
      .execute();
    this.wrote = true;
  }

  /**
   * Appends events to a session that has a row. A replacement shadows its span of the surface.
   * @param events - in order; `time` is now unless an imported event brings its own
   * @param state - where the session stands, as read in this transaction
   * @returns the state after them
   */
  async append(
    sessionId: string,
    state: SessionState,
    events: readonly AppendedEvent[],
  ): Promise<SessionState> {
    let after = state;
    let rows: Insertable<EventsTable>[] = [];
    const flush = async () => {
      if (rows.length > 0) await this.#sql.insertInto('events').values(rows).execute();
      rows = [];
    };
    for (const { event, slot } of events) {
      const seq = after.nextSeq;
      const time = 'time' in event && event.time !== undefined ? event.time : this.now;
      const logged = { ...event, seq, time } as LogEvent;
      after = advance(after, logged);
      const body = losslessJson(event.data);
      const replace = typeof event.surfaceOp === 'object' ? event.surfaceOp : undefined;
      if (replace) await flush();
      rows.push({
        session_id: sessionId,
        seq,
        type: event.type,
        time,
        ...(body.length > INLINE_BODY
          ? { data: null, blob: await this.#putBlob(body) }
          : { data: body, blob: null }),
        surface_op: event.surfaceOp === undefined ? null : JSON.stringify(event.surfaceOp),
        source_seqs: event.sourceEventSeqs === undefined ? null : JSON.stringify(event.sourceEventSeqs),
        ...project(logged, after, slot ?? slotOf(logged)),
        surface_key: replace
          ? await this.#shadow(sessionId, seq, replace)
          : event.surfaceOp === 'append'
            ? seq
            : null,
        shadowed_by: null,
      });
      if (rows.length >= INSERT_ROWS) await flush();
    }
    await flush();
    await this.#sql
      .updateTable('sessions')
      .set({
        next_seq: after.nextSeq,
        turn: after.turn,
        turn_key: after.turnKey,
        turn_open: after.turnOpen ? 1 : 0,
        step: after.step,
        step_open: after.stepOpen ? 1 : 0,
      })
      .where('session_id', '=', sessionId)
      .execute();
    this.wrote = true;
    return after;
  }

  /** Where a turn ended. Undefined where it did not, or never began. */
  async endOfTurn(
    sessionId: string,
    turn: number,
  ): Promise<{ seq: number; turnKey: string | null; lastStep: number } | undefined> {
    const start = await this.#turnStart(sessionId, turn);
    if (!start) return undefined;
    const end = await this.#sql
      .selectFrom('events')
      .select(['seq', 'turn_key'])
      .where('session_id', '=', sessionId)
      .where('seq', '>', start.seq)
      .where('type', '=', 'turn/end')
      .where('turn', '=', turn)
      .orderBy('seq')
      .limit(1)
      .executeTakeFirst();
    if (!end) return undefined;
    const { step } = await this.#sql
      .selectFrom('events')
      .select((select) => select.fn.max('step').as('step'))
      .where('session_id', '=', sessionId)
      .where('seq', '>=', start.seq)
      .where('seq', '<=', end.seq)
      .executeTakeFirstOrThrow();
    return { seq: end.seq, turnKey: end.turn_key, lastStep: step ?? 0 };
  }

  /** Copies the first events of a session, look-up columns and all, to a session that has a row and no events. */
  async copyPrefix(from: string, to: string, length: number): Promise<void> {
    const same = [
      ...(['seq', 'type', 'time', 'data', 'blob', 'surface_op', 'source_seqs', 'turn', 'step'] as const),
      ...(['turn_key', 'slot', 'prompt_id', 'zone', 'is_baseline', 'is_reading', 'surface_key'] as const),
    ];
    await this.#sql
      .insertInto('events')
      .columns(['session_id', 'shadowed_by', ...same])
      .expression((build) =>
        build
          .selectFrom('events')
          .select((select) => [
            select.val(to).as('session_id'),
            // What a later event shadowed stands on the surface here.
            select
              .case()
              .when('shadowed_by', '<', length)
              .then(select.ref('shadowed_by'))
              .else(null)
              .end()
              .as('shadowed_by'),
          ])
          .select(same)
          .where('session_id', '=', from)
          .where('seq', '<', length)
          .orderBy('seq'),
      )
      .execute();
    this.wrote = true;
  }

  async #putBlob(body: string): Promise<string> {
    const digest = createHash('sha256').update(body).digest('hex');
    await this.#sql
      .insertInto('blobs')
      .values({ digest, body })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    return digest;
  }

  async #shadow(sessionId: string, by: number, span: { start: number; end: number }): Promise<number> {
    const ends = await this.#sql
      .selectFrom('events')
      .select(['seq', 'surface_key'])
      .where('session_id', '=', sessionId)
      .where('seq', 'in', [span.start, span.end])
      .where('surface_key', 'is not', null)
      .where('shadowed_by', 'is', null)
      .execute();
    const start = ends.find((row) => row.seq === span.start)?.surface_key;
    const end = ends.find((row) => row.seq === span.end)?.surface_key;
    if (start == null || end == null || start > end) {
      throw new LogError(
        'bad-span',
        `event ${by} replaces ${span.start} to ${span.end}, which is not a span of the surface`,
      );
    }
    await this.#sql
      .updateTable('events')
      .set({ shadowed_by: by })
      .where('session_id', '=', sessionId)
      .where('surface_key', '>=', start)
      .where('surface_key', '<=', end)
      .where('shadowed_by', 'is', null)
      .execute();
    return start;
  }

  /** Which of these prompt ids the log knows. */
  async knownPrompts(sessionId: string, promptIds: readonly string[]): Promise<Set<string>> {
    if (promptIds.length === 0) return new Set();
    const rows = await this.#sql
      .selectFrom('events')
      .select('prompt_id')
      .where('session_id', '=', sessionId)
      .where('prompt_id', 'in', promptIds as string[])
      .execute();
    return new Set(rows.map((row) => row.prompt_id!));
  }

  /** The turn that a key opened, and how it ended. */
  async turnOfKey(sessionId: string, turnKey: string): Promise<{ turn: number; end?: LogEvent } | undefined> {
    const rows = await this.#events(sessionId)
      .select('turn')
      .where('turn_key', '=', turnKey)
      .where('step', '=', 0)
      .where('slot', 'in', ['turn/start', 'turn/end'])
      .execute();
    const start = rows.find((row) => row.type === 'turn/start');
    const end = rows.find((row) => row.type === 'turn/end');
    return start && { turn: start.turn!, ...(end ? { end: eventOf(end) } : {}) };
  }

  async closedKey(sessionId: string, turnKey: string): Promise<string | undefined> {
    const row = await this.#sql
      .selectFrom('closed_keys')
      .select('reason')
      .where('session_id', '=', sessionId)
      .where('turn_key', '=', turnKey)
      .executeTakeFirst();
    return row?.reason;
  }

  async closeKey(sessionId: string, turnKey: string, reason: string): Promise<void> {
    await this.#sql
      .insertInto('closed_keys')
      .values({ session_id: sessionId, turn_key: turnKey, reason })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    this.wrote = true;
  }

  /** What stands in a step under a slot, such as `message` or `result:0`. */
  async slot(sessionId: string, turnKey: string, step: number, slot: string): Promise<LogEvent | undefined> {
    const row = await this.#events(sessionId)
      .where('turn_key', '=', turnKey)
      .where('step', '=', step)
      .where('slot', '=', slot)
      .executeTakeFirst();
    return row && eventOf(row);
  }

  /** The indexes of the step's calls that have a result. */
  async answeredCalls(sessionId: string, turnKey: string, step: number): Promise<Set<number>> {
    const rows = await this.#sql
      .selectFrom('events')
      .select('slot')
      .where('session_id', '=', sessionId)
      .where('turn_key', '=', turnKey)
      .where('step', '=', step)
      .where('slot', 'like', 'result:%')
      .execute();
    return new Set(rows.map((row) => Number(row.slot!.slice('result:'.length))));
  }

  /** The assistant message of a step that may have come without a key (an import), and its unanswered calls. */
  async messageOfOpenStep(
    sessionId: string,
    state: SessionState,
  ): Promise<{ message?: LogEvent; answered: Set<string> }> {
    const start = await this.#turnStart(sessionId, state.turn);
    const rows = await this.#events(sessionId)
      .where('seq', '>', start?.seq ?? 0)
      .where('step', '=', state.step)
      .where('type', 'in', ['assistant/message', 'tool/result'])
      .orderBy('seq')
      .execute();
    const events = rows.map(eventOf);
    const message = events.findLast((event) => event.type === 'assistant/message');
    const answered = new Set(
      events.filter((event) => event.type === 'tool/result').map((event) => answeredCall(event.data)!),
    );
    return { ...(message ? { message } : {}), answered };
  }

  /** The latest user message, assistant message or tool result in the sense of contract §3. */
  latestBaseline(sessionId: string): Promise<{ seq: number; time: number } | undefined> {
    return this.#sql
      .selectFrom('events')
      .select(['seq', 'time'])
      .where('session_id', '=', sessionId)
      .where('is_baseline', '=', 1)
      .orderBy('seq', 'desc')
      .limit(1)
      .executeTakeFirst();
  }

  /** The latest reading of the raw log, shadowed or not. */
  async latestReading(
    sessionId: string,
  ): Promise<
    { seq: number; time: number; turn: number | null; shadowed: boolean; message: UserMessage } | undefined
  > {
    const row = await this.#events(sessionId)
      .select(['turn', 'shadowed_by'])
      .where('is_reading', '=', 1)
      .orderBy('seq', 'desc')
      .limit(1)
      .executeTakeFirst();
    return (
      row && {
        seq: row.seq,
        time: row.time,
        turn: row.turn,
        shadowed: row.shadowed_by !== null,
        message: eventOf(row).data as UserMessage,
      }
    );
  }

  /** Zones that the prompts of a turn brought, in order. */
  async turnZones(sessionId: string, turn: number): Promise<string[]> {
    const rows = await this.#sql
      .selectFrom('events')
      .select('zone')
      .where('session_id', '=', sessionId)
      .where('turn', '=', turn)
      .where('zone', 'is not', null)
      .orderBy('seq')
      .execute();
    return rows.map((row) => row.zone!);
  }

  /** The request header in force. */
  async latestHeader(sessionId: string): Promise<LogEvent | undefined> {
    const row = await this.#events(sessionId)
      .where('type', '=', 'request/header')
      .orderBy('seq', 'desc')
      .limit(1)
      .executeTakeFirst();
    return row && eventOf(row);
  }

  /** Whether a seed ends after `seq`. */
  async seedEndsAfter(sessionId: string, seq: number): Promise<boolean> {
    const row = await this.#sql
      .selectFrom('events')
      .select('seq')
      .where('session_id', '=', sessionId)
      .where('seq', '>', seq)
      .where('type', '=', 'session/end-seed')
      .limit(1)
      .executeTakeFirst();
    return row !== undefined;
  }

  /** The messages that the model sees now, in order. */
  async surface(sessionId: string): Promise<LogEvent[]> {
    const rows = await this.#events(sessionId)
      .where('surface_key', 'is not', null)
      .where('shadowed_by', 'is', null)
      .orderBy('surface_key')
      .execute();
    return rows.map(eventOf);
  }

  /** The `turn/start` of a turn: the latest, where an import holds its number twice. */
  #turnStart(sessionId: string, turn: number): Promise<{ seq: number } | undefined> {
    return this.#sql
      .selectFrom('events')
      .select('seq')
      .where('session_id', '=', sessionId)
      .where('type', '=', 'turn/start')
      .where('turn', '=', turn)
      .orderBy('seq', 'desc')
      .executeTakeFirst();
  }

  #events(sessionId: string) {
    return this.#sql
      .selectFrom('events')
      .leftJoin('blobs', 'blobs.digest', 'events.blob')
      .select(['seq', 'type', 'time', 'data', 'surface_op', 'source_seqs', 'blobs.body'])
      .where('session_id', '=', sessionId);
  }
}

export { EMPTY_SESSION };
