/**
 * The request of any past step, from the log alone (contract §5).
 *
 * I13  It is the one that `callModel` builds: the header in force and the surface, as they stood when it was made.
 */
import type { EventData, LogEvent, RequestHeader } from '../contract.ts';
import { LogError } from './log-error.ts';
import { type ModelRequest, messageOf, type SurfaceMessage } from './request.ts';

/** The canonical JSON of a request: its keys stand in the order in which the log has them. */
export function canonicalJson({ header, messages }: ModelRequest): string {
  return JSON.stringify({ header, messages });
}

/**
 * Builds the request of a step again. It reads no further than to that step's answer, or to its end where it has none:
 * then it is the request that the step's next attempt would have sent.
 * @param events - of one session, in the order of its log
 * @throws LogError `unknown-turn`, `unknown-step`, `no-request-header`; `bad-span` for a log that is broken
 */
export async function reconstructRequest(
  events: AsyncIterable<LogEvent> | Iterable<LogEvent>,
  wanted: { turn: number; step: number },
): Promise<ModelRequest> {
  const surface = new Surface();
  let header: RequestHeader | undefined;
  let turn = 0;
  /** The last step that was seen of the wanted turn. */
  let lastStep: number | undefined;
  let inside = false;
  for await (const event of events) {
    if (inside && endsRequest(event)) break;
    switch (event.type) {
      case 'turn/start':
        turn = (event.data as EventData['turn/start']).turn;
        if (turn === wanted.turn) lastStep ??= 0;
        break;
      case 'step/start': {
        const at = event.data as EventData['step/start'];
        inside = at.turn === wanted.turn && at.step === wanted.step;
        if (at.turn === wanted.turn) lastStep = at.step;
        break;
      }
      case 'request/header':
        header = (event.data as EventData['request/header']).header ?? header;
        break;
      default:
        if (event.surfaceOp !== undefined) surface.take(event);
    }
  }
  if (!inside) throw unknownPlace(wanted, turn, lastStep);
  if (!header) {
    throw new LogError(
      'no-request-header',
      `turn ${wanted.turn}, step ${wanted.step} has no request: no request/header is logged up to there`,
    );
  }
  return { header, messages: surface.messages() };
}

/** An answer, or what closes a step, be it only the beginning of the next one. */
function endsRequest({ type, surfaceOp }: LogEvent): boolean {
  switch (type) {
    case 'assistant/message':
      return surfaceOp === 'append';
    case 'step/end':
    case 'step/start':
    case 'turn/end':
    case 'turn/start':
      return true;
    default:
      return false;
  }
}

function unknownPlace(
  wanted: { turn: number; step: number },
  turns: number,
  lastStep: number | undefined,
): LogError {
  if (lastStep === undefined) {
    const has = turns === 0 ? 'it has none yet' : `its last one is turn ${turns}`;
    return new LogError('unknown-turn', `the session has no turn ${wanted.turn}; ${has}`);
  }
  const has = lastStep === 0 ? 'it entered none' : `its last one is step ${lastStep}`;
  return new LogError('unknown-step', `turn ${wanted.turn} has no step ${wanted.step}; ${has}`);
}

/** The events that the model sees, in their order. */
class Surface {
  readonly #events: LogEvent[] = [];

  take(event: LogEvent): void {
    if (typeof event.surfaceOp !== 'object') {
      this.#events.push(event);
      return;
    }
    const { start, end } = event.surfaceOp;
    const from = this.#events.findLastIndex(({ seq }) => seq === start);
    const to = this.#events.findLastIndex(({ seq }) => seq === end);
    if (from === -1 || to < from) {
      throw new LogError(
        'bad-span',
        `event ${event.seq} replaces ${start} to ${end}, which is not a span of the surface`,
      );
    }
    this.#events.splice(from, to - from + 1, event);
  }

  messages(): SurfaceMessage[] {
    return this.#events.flatMap((event) => messageOf(event) ?? []);
  }
}
