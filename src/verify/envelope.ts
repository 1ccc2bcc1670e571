import { FORMAT_VERSION, type LogEvent, type SessionHeader } from '../contract.ts';
import { SURFACE_TYPES } from '../reading/classify.ts';
import { type Report, shown } from './problem.ts';
import type { SurfaceNodes } from './surface-nodes.ts';

/** Checks the header of an exchange (contract §5). */
export function checkHeader(header: SessionHeader, report: Report): void {
  if (!isObject(header)) {
    report('header', 'a session header', shown(header));
    return;
  }
  if (header.type !== 'session') report('header', 'type "session"', `type ${shown(header.type)}`);
  if (header.version !== FORMAT_VERSION)
    report('header', `version ${FORMAT_VERSION}`, `version ${shown(header.version)}`);
  // Ids of other products are not held to ours.
  if (typeof header.id !== 'string' || header.id === '') report('header', 'an id', `id ${shown(header.id)}`);
  if (!isTime(header.createdAt))
    report('header', 'createdAt in whole epoch milliseconds', `createdAt ${shown(header.createdAt)}`);
  if (header.seedLength !== undefined && !isCount(header.seedLength)) {
    report('header', 'seedLength, a count of events', `seedLength ${shown(header.seedLength)}`);
  }
}

/**
 * Checks an event's envelope and its place on the surface (contract §5), and moves the surface.
 * @param seq - the seq that it must have
 * @returns whether the event can be looked at further
 */
export function checkEnvelope(event: LogEvent, seq: number, surface: SurfaceNodes, report: Report): boolean {
  if (!isObject(event)) {
    report('envelope', 'an event', shown(event));
    return false;
  }
  if (event.seq !== seq) report('envelope', `seq ${seq}`, `seq ${shown(event.seq)}`);
  if (typeof event.type !== 'string' || event.type === '')
    report('envelope', 'a type', `type ${shown(event.type)}`);
  if (!isTime(event.time))
    report('envelope', 'time in whole epoch milliseconds', `time ${shown(event.time)}`);
  if (event.data === undefined) report('envelope', 'data', 'none');
  const known = typeof event.type === 'string' && isCount(event.seq) && isTime(event.time);
  return known && checkSurface(event, surface, report) && event.data !== undefined;
}

function checkSurface(event: LogEvent, surface: SurfaceNodes, report: Report): boolean {
  const { seq, type, surfaceOp, sourceEventSeqs } = event;
  const onSurface = SURFACE_TYPES.has(type);
  if (sourceEventSeqs !== undefined) {
    const listed =
      Array.isArray(sourceEventSeqs) && sourceEventSeqs.every((source) => isCount(source) && source < seq);
    if (!listed || !onSurface)
      report(
        'surface',
        onSurface ? 'sourceEventSeqs of earlier events' : 'no sourceEventSeqs',
        shown(sourceEventSeqs),
      );
  }
  if (!onSurface) {
    if (surfaceOp === undefined) return true;
    report('surface', `no surfaceOp on ${type}`, shown(surfaceOp));
    return false;
  }
  if (surfaceOp === 'append') {
    surface.append(seq);
    return true;
  }
  const wellFormed =
    isObject(surfaceOp) &&
    surfaceOp.op === 'replace' &&
    isCount(surfaceOp.start) &&
    isCount(surfaceOp.end) &&
    Object.keys(surfaceOp).length === 3;
  if (!wellFormed) {
    report('surface', 'surfaceOp "append" or { op: "replace", start, end }', shown(surfaceOp));
    return false;
  }
  const { start, end } = surfaceOp;
  for (const node of start === end ? [start] : [start, end]) {
    if (node >= seq || !surface.has(node)) {
      report('surface', 'a span from node to node of the surface', `event ${node}, which is not on it`);
      return false;
    }
  }
  if (surface.keys.keyOf(start) > surface.keys.keyOf(end)) {
    report('surface', 'a span whose start comes before its end', `start ${start} after end ${end}`);
    return false;
  }
  surface.shadow(start, end);
  return true;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A whole number from 0: a seq or a length. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** A whole number from 1: a turn or a step. */
export function isOrdinal(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1;
}

/** Epoch milliseconds. */
export function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
