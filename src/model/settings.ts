import type { LanguageModelV4 } from '@ai-sdk/provider';

/** Which model answers, and how patient the worker is with it. */
export interface ModelSettings {
  /** An OpenAI-compatible endpoint, such as `https://…/v1`. */
  baseURL: string;
  apiKey?: string;
  /** The model id that the endpoint knows. */
  model: string;
  /** Name of the endpoint in the request header and in messages; default `openai-compatible`. */
  provider?: string;
  maxOutputTokens?: number;
  temperature?: number;
  /** The system prompt. It holds no time: readings do. */
  system?: string;
  /** No byte from the model for so long is an error. Milliseconds, default 60,000. */
  silenceMs?: number;
  /** One call may take so long. Milliseconds, default 600,000. */
  callMs?: number;
  /** From the first failure on, how long a call is tried again. Milliseconds, default 600,000. */
  retryForMs?: number;
  /** Another AI SDK model in place of the OpenAI-compatible endpoint. */
  languageModel?: (modelId: string) => LanguageModelV4;
}

export const MODEL_DEFAULTS = {
  provider: 'openai-compatible',
  silenceMs: 60_000,
  callMs: 600_000,
  retryForMs: 600_000,
} as const;

export const DEFAULT_SYSTEM = [
  'You are a helpful assistant.',
  'Messages that begin with "Time sampled while preparing turn" are clock readings made by the system, not by the user.',
  'The latest one says what time it is now and which time zone applies; follow what it says about zones.',
].join(' ');
