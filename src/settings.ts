import { z } from 'zod';
import { TASK_QUEUE } from './contract.ts';
import type { ModelSettings } from './model/settings.ts';
import { type OptionNames, type ReadingOptions, readingOptionsFromText } from './reading/settings.ts';
import { DEFAULT_DATABASE_URL } from './session/database.ts';

/** The settings of worker, host and command line, as the environment gives them (contract §6). */
export interface Settings {
  databaseUrl: string;
  taskQueue: string;
  reading: ReadingOptions;
  /** Absent: the offline model answers. */
  model?: ModelSettings;
}

/** How each option of the readings is called in the environment. */
export const READING_NAMES: Required<OptionNames> = {
  timeZone: 'TIME_CONTEXT_TIME_ZONE',
  userTimeZone: 'TIME_CONTEXT_USER_TIME_ZONE',
  refreshIntervalMs: 'TIME_CONTEXT_REFRESH_INTERVAL_MS',
  refreshOn: 'TIME_CONTEXT_REFRESH_ON',
};

const KNOWN = new Set(['TIME_CONTEXT_TASK_QUEUE', ...Object.values(READING_NAMES)]);

/** A bad setting; the message names it, its value and what is allowed. Exit code 2. */
export class SettingError extends Error {
  readonly code = 'bad-setting';

  constructor(message: string) {
    super(message);
    this.name = 'SettingError';
  }
}

/**
 * Reads the environment. An empty variable is an absent one.
 * @throws SettingError, or SettingsError of the readings' options
 */
export function settingsFrom(env: NodeJS.ProcessEnv): Settings {
  for (const name of Object.keys(env)) {
    if (name.startsWith('TIME_CONTEXT_') && !KNOWN.has(name)) {
      throw new SettingError(`${name} is no setting; allowed: ${[...KNOWN].sort().join(', ')}`);
    }
  }
  const reading = readingOptionsFromText(
    Object.fromEntries(Object.entries(READING_NAMES).map(([option, name]) => [option, env[name]])),
    READING_NAMES,
  );
  const model = modelFrom(env);
  return {
    databaseUrl: env.DATABASE_URL || DEFAULT_DATABASE_URL,
    taskQueue: env.TIME_CONTEXT_TASK_QUEUE || TASK_QUEUE,
    reading,
    ...(model ? { model } : {}),
  };
}

function modelFrom({ MODEL_BASE_URL, MODEL_API_KEY, MODEL }: NodeJS.ProcessEnv): ModelSettings | undefined {
  if (!MODEL_BASE_URL) {
    const stray = [MODEL_API_KEY && 'MODEL_API_KEY', MODEL && 'MODEL'].filter(Boolean).join(' and ');
    if (stray)
      throw new SettingError(
        `${stray} is set but MODEL_BASE_URL is not; set it to an OpenAI-compatible endpoint, such as https://host/v1`,
      );
    return undefined;
  }
  if (!z.url({ protocol: /^https?$/ }).safeParse(MODEL_BASE_URL).success) {
    throw new SettingError(
      `MODEL_BASE_URL is ${JSON.stringify(MODEL_BASE_URL)}; allowed: an http or https URL, such as https://host/v1`,
    );
  }
  if (!MODEL)
    throw new SettingError(
      'MODEL_BASE_URL is set but MODEL is not; set it to the id of a model of that endpoint',
    );
  return { baseURL: MODEL_BASE_URL, model: MODEL, ...(MODEL_API_KEY ? { apiKey: MODEL_API_KEY } : {}) };
}
