import type { RefreshOccasion } from '../contract.ts';
import { REFRESH_OCCASIONS } from './refresh.ts';
import { ALLOWED_ZONES, acceptZone, processZone } from './zone.ts';

/** The options of readings as an operator gives them in code. Absent and undefined are one. */
export interface ReadingOptions {
  /** Zone of the clock where no request or user zone is known. Default: the process's zone. */
  timeZone?: string | undefined;
  /** Zone of the user, for deployments with one user or one place. */
  userTimeZone?: string | undefined;
  /** Milliseconds between readings; 0 or absent: every step. */
  refreshIntervalMs?: number | undefined;
  /** Occasions on which a reading is due whatever the interval says. */
  refreshOn?: readonly RefreshOccasion[] | undefined;
}

/** What the process tells about itself, read once at start. */
export interface ProcessFacts {
  /** What `Intl` reports as the process's zone: anything, see `processZone`. */
  timeZone: unknown;
  /** `process.versions.tz`, such as `2026c`. */
  tzdata: string | undefined;
}

/** Checked settings of readings: zones are primary names that this runtime knows. */
export interface ReadingSettings {
  fallbackZone: string;
  userTimeZone?: string;
  /** 0: every step. */
  intervalMs: number;
  on: RefreshOccasion[];
  tzdata: string;
  /** What the operator should be told once, at start. */
  notes: string[];
}

export type SettingsErrorCode =
  | 'config-time-zone-invalid'
  | 'config-refresh-interval-invalid'
  | 'config-refresh-on-invalid'
  | 'config-type-invalid';

/** A bad option. Its message is one line that names the option, the value and what is allowed (contract §4). */
export class SettingsError extends Error {
  readonly code: SettingsErrorCode;

  constructor(code: SettingsErrorCode, option: string, value: unknown, allowed: string) {
    super(`${option} is ${shown(value)}; allowed: ${allowed}`);
    this.name = 'SettingsError';
    this.code = code;
  }
}

/** How an option is called where it was given, such as `TIME_CONTEXT_TIME_ZONE`; an option that is not named goes by its own name. */
export type OptionNames = Partial<Record<keyof ReadingOptions, string>>;

/**
 * Checks the options of readings and resolves the fallback zone, once at start.
 * @throws SettingsError with a code of {@link SettingsErrorCode}
 */
export function readingSettings(
  options: ReadingOptions,
  process: ProcessFacts,
  names: OptionNames = {},
): ReadingSettings {
  const timeZone = configuredZone(names.timeZone ?? 'timeZone', options.timeZone);
  const userTimeZone = configuredZone(names.userTimeZone ?? 'userTimeZone', options.userTimeZone);
  const fallback = timeZone === undefined ? processZone(process.timeZone) : { name: timeZone };
  return {
    fallbackZone: fallback.name,
    ...(userTimeZone === undefined ? {} : { userTimeZone }),
    intervalMs: interval(names.refreshIntervalMs ?? 'refreshIntervalMs', options.refreshIntervalMs),
    on: occasions(names.refreshOn ?? 'refreshOn', options.refreshOn),
    tzdata: process.tzdata ?? 'unknown',
    notes: fallback.note === undefined ? [] : [fallback.note],
  };
}

/**
 * The options as text gives them: environment or command line. An empty text is an absent option.
 * @throws SettingsError where a text is no number; everything else is left to {@link readingSettings}
 */
export function readingOptionsFromText(
  text: Partial<Record<keyof ReadingOptions, string | undefined>>,
  names: OptionNames = {},
): ReadingOptions {
  const options: ReadingOptions = {};
  if (text.timeZone) options.timeZone = text.timeZone;
  if (text.userTimeZone) options.userTimeZone = text.userTimeZone;
  if (text.refreshIntervalMs) {
    if (!/^\d+$/.test(text.refreshIntervalMs)) {
      const name = names.refreshIntervalMs ?? 'refreshIntervalMs';
      throw new SettingsError(
        'config-refresh-interval-invalid',
        name,
        text.refreshIntervalMs,
        ALLOWED_INTERVAL,
      );
    }
    options.refreshIntervalMs = Number(text.refreshIntervalMs);
  }
  if (text.refreshOn)
    options.refreshOn = text.refreshOn.split(',').map((word) => word.trim()) as RefreshOccasion[];
  return options;
}

const ALLOWED_INTERVAL = `whole milliseconds from 0 (a reading at every step) to ${Number.MAX_SAFE_INTEGER}`;
const ALLOWED_OCCASIONS = `a list of ${REFRESH_OCCASIONS.join(', ')}`;

function configuredZone(option: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (value !== null && typeof value !== 'string')
    throw new SettingsError('config-type-invalid', option, value, ALLOWED_ZONES);
  const zone = acceptZone(value);
  if (zone.ok !== true) throw new SettingsError('config-time-zone-invalid', option, value, ALLOWED_ZONES);
  return zone.name;
}

function interval(option: string, value: unknown): number {
  if (value === undefined) return 0;
  if (value !== null && typeof value !== 'number')
    throw new SettingsError('config-type-invalid', option, value, ALLOWED_INTERVAL);
  if (!Number.isSafeInteger(value) || (value as number) < 0) {
    throw new SettingsError('config-refresh-interval-invalid', option, value, ALLOWED_INTERVAL);
  }
  // -0 is 0, and JSON would lose its sign.
  return (value as number) + 0;
}

function occasions(option: string, value: unknown): RefreshOccasion[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw new SettingsError('config-type-invalid', option, value, ALLOWED_OCCASIONS);
  for (const word of value) {
    if (!REFRESH_OCCASIONS.includes(word))
      throw new SettingsError('config-refresh-on-invalid', option, word, ALLOWED_OCCASIONS);
  }
  return REFRESH_OCCASIONS.filter((occasion) => value.includes(occasion));
}

/** A value on one line, cut where it is long. */
function shown(value: unknown): string {
  const text =
    typeof value === 'number' || value === undefined
      ? String(value)
      : (JSON.stringify(value) ?? typeof value);
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
