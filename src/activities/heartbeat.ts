import { Context, heartbeat } from '@temporalio/activity';

const EVERY_MS = 200;

/**
 * Runs work with a heartbeat every 200 ms: that is how a cancel reaches an activity.
 * @param details - carried by each heartbeat to later attempts
 * @param work - gets the signal of the activity's cancellation, a worker's shutdown included
 */
export async function withHeartbeat<T>(
  details: unknown,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const timer = setInterval(() => heartbeat(details), EVERY_MS);
  try {
    return await work(Context.current().cancellationSignal);
  } finally {
    clearInterval(timer);
  }
}
