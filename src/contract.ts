/**
 * Names and types that cross a wire: Temporal, the log, the exchange file. Types and constants only:
 * everything imports this file, the workflow sandbox included, and it imports nothing.
 */

// --- Names on Temporal -------------------------------------------------------------------------

export const TASK_QUEUE = 'time-context';
export const AGENT_TURN = 'agentTurn';
export const PROMPT_UPDATE = 'prompt';
export const WORKFLOW_ID_PREFIX = 'session:';

export const ACTIVITY = {
  preStep: 'timeContext.preStep',
  closeTurn: 'timeContext.closeTurn',
  callModel: 'timeContext.callModel',
  runTool: 'timeContext.runTool',
} as const;

/** The plugin name in a reading's source. Any message of this plugin counts for refresh, whatever its form. */
export const READING_PLUGIN = 'time-context';
/** The plugin name in a compaction summary's source. */
export const COMPACT_PLUGIN = 'compact';

// --- Limits ------------------------------------------------------------------------------------

export const LIMIT = {
  /** UTF-8 bytes of one prompt's text. */
  promptBytes: 256 * 1024,
  /** Prompts accepted and not yet entered, by count and by UTF-8 bytes of their JSON. */
  inboxPrompts: 500,
  inboxBytes: 1024 * 1024,
  /** Characters of a zone name. */
  zoneChars: 64,
  /** Start-to-close time of one attempt of a local activity, in milliseconds. */
  transactionMs: 5_000,
} as const;

/** 1 to 128 of `A-Z a-z 0-9 . _ -`. */
export const SESSION_ID = /^[A-Za-z0-9._-]{1,128}$/;
/** 1 to 128 printable ASCII characters. */
export const PROMPT_ID = /^[\x20-\x7e]{1,128}$/;
/** The shape of a zone name, not its existence: the update's validator knows no zone data. */
export const ZONE_SHAPE = /^[A-Za-z0-9_+\-/]{1,64}$/;

// --- What a caller sends and gets --------------------------------------------------------------

/** The argument of the update `prompt`. Its update id is the prompt id. */
export interface PromptArgument {
  text: string;
  /** IANA zone of the browser that sent it. */
  timeZone?: string;
  /** The client's clock at submit, epoch milliseconds. Kept as a label; orders nothing. */
  clientTime?: number;
}

/** The argument of the workflow `agentTurn`. */
export interface AgentTurnArgument {
  sessionId: string;
  prompt?: PromptArgument & { id?: string };
  /** Set by the workflow itself when it continues as new. Callers leave it out. */
  carried?: CarriedTurn;
}

export interface CarriedTurn {
  inbox: OfferedPrompt[];
  /** Present when the turn itself goes on in the next run. */
  turnKey?: string;
  step?: number;
}

/** What the update `prompt` answers: the prompt is durable and will be in the log exactly once. */
export interface PromptReceipt {
  sessionId: string;
  promptId: string;
  runId: string;
}

export type AgentTurnResult =
  | { turn: number; reason: TurnEndReason['kind']; code?: string }
  | { reason: 'no-prompt' | 'known-prompt' | 'superseded' };

/** A prompt as the workflow holds and offers it. */
export interface OfferedPrompt extends PromptArgument {
  promptId: string;
  /** Epoch milliseconds of the server's clock when the workflow accepted it. */
  acceptedAt: number;
}

// --- What activities take and answer (JSON; references, never transcripts) ---------------------

export interface StepRef {
  sessionId: string;
  /** The run id of the turn's first run: one turn, one key. */
  turnKey: string;
  /** 1, 2, 3… in the turn. */
  step: number;
}

export interface PreStepArgument extends StepRef {
  messages: OfferedPrompt[];
}

/** `logged`: ids of all offered prompts that the log knows, from now or before. */
export type PreStepAnswer =
  | { status: 'entered'; turn: number; step: number; logged: string[] }
  | { status: 'tools'; turn: number; step: number; calls: number[]; logged: string[] }
  | {
      status: 'ended';
      turn?: number;
      reason: TurnEndReason['kind'] | 'none';
      code?: string;
      logged: string[];
    }
  | { status: 'superseded' };

export type CallModelAnswer =
  | { status: 'message'; calls: number; finish: 'stop' | 'tool-calls' | 'max-tokens' }
  | { status: 'superseded' };

export interface RunToolArgument extends StepRef {
  /** Index of the call among the tool calls of the step's assistant message, from 0. */
  index: number;
}

export type RunToolAnswer = { status: 'answered' } | { status: 'superseded' };

export interface CloseTurnArgument {
  sessionId: string;
  turnKey: string;
  reason: TurnEndReason;
}

export type CloseTurnAnswer =
  | { status: 'ended'; turn: number; reason: TurnEndReason['kind']; code?: string }
  /** No turn of this key was opened, and none will be. */
  | { status: 'closed' }
  | { status: 'superseded' };

// --- The log -----------------------------------------------------------------------------------

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json | undefined };

export type SurfaceOp = 'append' | { op: 'replace'; start: number; end: number };

/** One entry of a session's append-only log. `seq` counts from 0, `time` is epoch ms at append. */
export interface LogEvent<Type extends string = string, Data = unknown> {
  seq: number;
  type: Type;
  time: number;
  data: Data;
  surfaceOp?: SurfaceOp;
  sourceEventSeqs?: number[];
}

export interface TextBlock {
  type: 'text';
  text: string;
}
export interface ReasoningBlock {
  type: 'reasoning';
  text: string;
}
/** `arguments` is the raw JSON string as the model produced it. */
export interface ToolCallBlock {
  type: 'tool-call';
  id: string;
  name: string;
  arguments: string;
}
export interface ToolResultBlock {
  type: 'tool-result';
  toolCallId: string;
  content: TextBlock[];
  isError?: boolean;
}

/** `rpcId` is the prompt id. A zone counts only beside a string `rpcId`. */
export interface UserSource {
  kind: 'user';
  rpcId?: string;
  clientTimeZone?: string;
}
export interface PluginSource {
  kind: 'plugin';
  plugin: string;
  form?: string;
  sections?: { name: string; text: string }[];
}

export interface UserMessage {
  id: string;
  role: 'user';
  content: TextBlock[];
  source: UserSource | PluginSource | { kind: string };
  prompt?: PromptFacts;
  reading?: ReadingData;
}

export interface PromptFacts {
  acceptedAt: number;
  givenTimeZone?: string;
  clientTime?: number;
}

export interface AssistantMessage {
  id: string;
  role: 'assistant';
  content: (TextBlock | ReasoningBlock | ToolCallBlock)[];
  source: { kind: 'model'; provider: string; model: string };
}

export interface ToolResultMessage {
  id: string;
  role: 'user';
  content: [ToolResultBlock];
  source: { kind: 'tool'; callId: string };
}

export type ZoneStatus = 'resolved' | 'configured' | 'scheduled' | 'mixed' | 'unavailable';

export interface ReadingZone {
  status: ZoneStatus;
  /** The one zone, where there is one. */
  name: string | null;
  /** All zones of the turn, sorted by code unit, aliases of one zone once. */
  names: string[];
  /** The zone in which the clock is shown. */
  display: string;
}

/** What a reading says, as data; the message's text is derived from it. */
export interface ReadingData {
  turn: number;
  step: number;
  /** Epoch ms at which the clock was read. */
  instant: number;
  zone: ReadingZone;
  /** `seq` and `ms` are null where there is no baseline; `ms` is clamped at zero. */
  elapsed: { since: 'message' | 'reading'; seq: number | null; ms: number | null };
  /** Version of the time zone data that showed it, such as `2026c`. */
  tzdata: string;
  /** The baseline lies after the instant. */
  clockWentBack?: true;
  /** Milliseconds from the acceptance of the batch's newest prompt to this reading, known skew taken out. */
  promptAgeMs?: number;
  /** Worker clock minus server clock in milliseconds, where it was measured. */
  clockSkewMs?: number;
  /** Zones of the turn's prompts that the writing runtime did not know: they are left out of `zone`. */
  unknownZones?: string[];
}

export type RefreshOccasion = 'zone-change' | 'compaction';

/** The refresh decision of a step, stored in `step/start` when an interval is in force. */
export interface RefreshDecision {
  intervalMs: number;
  on?: RefreshOccasion[];
  due: boolean;
  /** Epoch ms at which it was decided. */
  at: number;
}

export type TurnEndReason =
  | { kind: 'completed' }
  | { kind: 'aborted'; cause: string }
  | { kind: 'blocked' }
  | { kind: 'error'; message: string; code: string }
  | { kind: 'max-tokens' }
  | { kind: 'interrupted' };

export interface TokenUsage {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens?: number;
  reasoningTokens?: number;
}

export interface ToolSchema {
  name: string;
  description: string;
  /** JSON Schema object of the arguments. */
  parameters: { [key: string]: Json | undefined };
}

export interface RequestHeader {
  config: { provider: string; model: string; maxTokens?: number; temperature?: number };
  system?: string;
  tools?: ToolSchema[];
}

/** Data by event type. Types that stand nowhere here are kept as they are and are log-only. */
export interface EventData {
  'turn/start': { turn: number; turnKey?: string };
  'turn/end': { turn: number; reason: TurnEndReason };
  'step/start': { turn: number; step: number; refresh?: RefreshDecision };
  'step/end': { turn: number; step: number };
  'user/message': UserMessage;
  'assistant/message': {
    turn: number;
    step: number;
    message: AssistantMessage;
    usage?: TokenUsage;
    interrupted?: true;
    /** The message reached the model's output limit. */
    finish?: 'max-tokens';
  };
  'tool/call': { turn: number; step: number; callId: string; name: string; arguments: string };
  'tool/result': {
    turn: number;
    step: number;
    message: ToolResultMessage;
    error?: { name: string; code: string };
  };
  'request/header': { header: RequestHeader; reason: 'initial' | 'resume' | 'change' };
  'prompt/consumed': { promptId: string; turn?: number; by: string; outcome: 'dropped' | 'rejected' };
  'session/end-seed': Record<string, never>;
}

export type KnownEvent = { [T in keyof EventData]: LogEvent<T, EventData[T]> }[keyof EventData];

/** An event before the log gives it its `seq`. */
export type NewEvent = {
  [T in keyof EventData]: { type: T; data: EventData[T]; surfaceOp?: SurfaceOp; sourceEventSeqs?: number[] };
}[keyof EventData];

/** First line of an exchange file. */
export interface SessionHeader {
  type: 'session';
  version: number;
  id: string;
  createdAt: number;
  parentSession?: string;
  seedLength?: number;
  /** `foreign`: the loop is somebody else's; `agentTurn` refuses the session. */
  driver?: 'foreign';
}

export const FORMAT_VERSION = 0;
