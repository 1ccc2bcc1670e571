import { ALLOWED_ZONES, acceptZone } from '../reading/zone.ts';

/** The zone of this machine, as a browser would send its own: left out, with a note, where no host would take it. */
export function localZone(): { timeZone?: string; note?: string } {
  const reported: unknown = new Intl.DateTimeFormat('en-US').resolvedOptions().timeZone;
  if (acceptZone(reported).ok === true) return { timeZone: reported as string };
  const given = reported === undefined ? 'none' : JSON.stringify(reported);
  return {
    note: `this machine's time zone (${given}) is left out; allowed: ${ALLOWED_ZONES}. Set one with --time-zone, or TZ`,
  };
}
