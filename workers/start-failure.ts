import { TransportError } from '@temporalio/worker';

const BAD_SETTING = 2;
const FAILED = 1;

/** One clear line for what kept a process from starting, and its exit code: 2 for a setting, 1 for the rest. */
export function startFailure(error: unknown): { message: string; exitCode: number } {
  const { name, message, code } = error as { name?: string; message?: string; code?: string };
  if (code === 'bad-setting' || code?.startsWith('config-') || name === 'RangeError') {
    return { message: `error: ${message}`, exitCode: BAD_SETTING };
  }
  if (error instanceof TransportError) {
    return {
      message: `error: no Temporal server answers; start one (npm start), or set TEMPORAL_ADDRESS. ${message}`,
      exitCode: FAILED,
    };
  }
  if (code) return { message: `error: ${message}`, exitCode: FAILED };
  return { message: `error: ${(error as Error).stack ?? String(error)}`, exitCode: FAILED };
}
