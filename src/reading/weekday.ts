const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const;

/**
 * The English weekday of a timestamp's local date. It needs neither a locale nor tz data.
 * @param timestamp - begins with `YYYY-MM-DD`
 */
export function weekdayOf(timestamp: string): string {
  return WEEKDAYS[new Date(`${timestamp.slice(0, 10)}T00:00:00Z`).getUTCDay()]!;
}
