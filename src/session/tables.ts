/** The tables of the log. Columns after `source_seqs` are a projection of the event, kept for look-ups. */

export interface SessionsTable {
  session_id: string;
  created_at: number;
  /** The exchange header as JSON: `version`, `parentSession`, `seedLength`, `driver`, and what an import brought. */
  header: string;
  next_seq: number;
  /** The latest turn's number, 0 before the first. */
  turn: number;
  /** Key of the latest turn; null before the first, and for a turn that came without one. */
  turn_key: string | null;
  turn_open: number;
  /** The latest step of the latest turn, 0 before its first. */
  step: number;
  step_open: number;
}

export interface EventsTable {
  session_id: string;
  seq: number;
  type: string;
  time: number;
  /** JSON; null where the body is in `blobs`. */
  data: string | null;
  blob: string | null;
  surface_op: string | null;
  source_seqs: string | null;
  turn: number | null;
  step: number | null;
  turn_key: string | null;
  /** What is unique in a step of a turn: `start`, `message`, `result:0`, … */
  slot: string | null;
  prompt_id: string | null;
  /** The zone a prompt brought. */
  zone: string | null;
  is_baseline: number;
  is_reading: number;
  /** Place in the surface: its own seq, or for a replacement that of the first event it replaced. */
  surface_key: number | null;
  shadowed_by: number | null;
}

export interface BlobsTable {
  digest: string;
  body: string;
}

/** Turn keys that were closed before they opened a turn: a late pre-step opens none. */
export interface ClosedKeysTable {
  session_id: string;
  turn_key: string;
  reason: string;
}

export interface MetaTable {
  name: string;
  value: string;
}

export interface Tables {
  sessions: SessionsTable;
  events: EventsTable;
  blobs: BlobsTable;
  closed_keys: ClosedKeysTable;
  meta: MetaTable;
}
