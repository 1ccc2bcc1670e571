import type { LogEvent, UserMessage } from '../contract.ts';
import { isBaselineMessage, isReading, promptZone } from './classify.ts';
import type { EventPoint } from './elapsed.ts';
import { zoneOfReading } from './parse.ts';
import type { StepFacts } from './reading.ts';
import type { LatestReading } from './refresh.ts';
import { SurfaceKeys } from './surface-keys.ts';

/** The part of {@link StepFacts} that the log supplies. */
export type LogFacts = Pick<StepFacts, 'baseline' | 'stepReading' | 'latestReading' | 'turnZones'>;

/**
 * Reads a log event by event and supplies, at any point, the facts for a reading of the step that comes next.
 * Its memory does not grow with the log; a store with indexes answers the same from look-ups.
 */
export class ReadingFold {
  /** The turn of the last `turn/start`. */
  #turn: number | undefined;
  /** Zones of its prompts, each once. */
  #zones = new Set<string>();
  #stepReading: EventPoint | undefined;
  #baseline: EventPoint | undefined;
  #latest: (LatestReading & { key: number }) | undefined;
  readonly #keys: SurfaceKeys;

  /** @param keys - a map of the surface to keep; a caller that looks at the surface too shares its own */
  constructor(keys: SurfaceKeys = new SurfaceKeys()) {
    this.#keys = keys;
  }

  /** Takes the next event, in order of `seq`. */
  feed(event: LogEvent): void {
    if (event.type === 'turn/start') {
      this.#turn = (event.data as { turn: number }).turn;
      this.#zones = new Set();
      this.#stepReading = undefined;
      return;
    }
    const key = this.#place(event);
    if (isBaselineMessage(event)) this.#baseline = { seq: event.seq, time: event.time };
    if (event.type !== 'user/message') return;
    const message = event.data as UserMessage;
    if (isReading(event)) {
      const zone = zoneOfReading(message);
      this.#latest = { seq: event.seq, time: event.time, ...(zone ? { zone } : {}), shadowed: false, key };
      this.#stepReading = { seq: event.seq, time: event.time };
    } else if (event.surfaceOp === undefined || event.surfaceOp === 'append') {
      // A replacement may be a copy of another turn's prompt.
      const zone = promptZone(message);
      if (zone !== undefined) this.#zones.add(zone);
    }
  }

  /** The facts for the next step of a turn, of which the log may hold no start yet. */
  facts(turn: number): LogFacts {
    const open = this.#turn === turn;
    const { key: _, ...latest } = this.#latest ?? { key: 0 };
    return {
      baseline: this.#baseline,
      stepReading: open ? this.#stepReading : undefined,
      latestReading: this.#latest ? (latest as LatestReading) : undefined,
      turnZones: open ? [...this.#zones] : [],
    };
  }

  /** Follows the surface far enough to know whether the latest reading is shadowed. */
  #place({ seq, surfaceOp }: LogEvent): number {
    if (typeof surfaceOp !== 'object' || surfaceOp === null) return seq;
    const { from, to } = this.#keys.replace(seq, surfaceOp.start, surfaceOp.end);
    if (this.#latest && this.#latest.key >= from && this.#latest.key <= to) this.#latest.shadowed = true;
    return from;
  }
}
