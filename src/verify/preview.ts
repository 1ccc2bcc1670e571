import type { LogEvent, ReadingData, SessionHeader, UserMessage } from '../contract.ts';
import { ReadingFold } from '../reading/fold.ts';
import { prepareReading } from '../reading/reading.ts';
import type { ReadingSettings } from '../reading/settings.ts';
import { ALLOWED_ZONES, acceptZone } from '../reading/zone.ts';
import { isObject } from './envelope.ts';

/** The step that is asked about. */
export interface PreviewStep {
  turn: number;
  step: number;
  /** Epoch milliseconds. */
  now: number;
  batch: readonly UserMessage[];
  settings: ReadingSettings;
}

/** `text` and `reading` are there where a reading is due. */
export type Preview = { due: false } | { due: true; text: string; reading: ReadingData };

/**
 * What the next pre-step would say of a log and a batch (contract §9). It writes nothing.
 * @throws ImplausibleClockError where `now` lies outside the years 2000 to 9999
 */
export async function preview(
  _header: SessionHeader,
  events: AsyncIterable<LogEvent> | Iterable<LogEvent>,
  { turn, step, now, batch, settings }: PreviewStep,
): Promise<Preview> {
  const fold = new ReadingFold();
  for await (const event of events) fold.feed(event);
  const prepared = prepareReading({ ...fold.facts(turn), turn, step, now, batch }, settings);
  return prepared.due ? { due: true, text: prepared.text, reading: prepared.reading } : { due: false };
}

/** A batch that cannot be previewed; `invalid-time-zone` is what the host would answer too. */
export class PreviewError extends Error {
  readonly code: 'invalid-batch' | 'invalid-time-zone';

  constructor(code: PreviewError['code'], message: string) {
    super(message);
    this.name = 'PreviewError';
    this.code = code;
  }
}

/**
 * The batch of one prompt from a browser in a zone: `--time-zone` (contract §9).
 * @throws PreviewError `invalid-time-zone`
 */
export function promptFromZone(timeZone: string): UserMessage[] {
  const zone = acceptZone(timeZone);
  if (zone.ok === false) {
    throw new PreviewError(
      'invalid-time-zone',
      `the time zone ${JSON.stringify(timeZone)} is refused: ${zone.reason}; allowed: ${ALLOWED_ZONES}`,
    );
  }
  const clientTimeZone = zone.ok === true ? { clientTimeZone: zone.name } : {};
  return [
    {
      id: 'preview',
      role: 'user',
      content: [{ type: 'text', text: '' }],
      source: { kind: 'user', rpcId: 'preview', ...clientTimeZone },
    },
  ];
}

/**
 * A batch from JSON: an array of messages in the shape of the log (contract §5); none is a tool continuation.
 * @throws PreviewError `invalid-batch` that names the message
 */
export function batchFromJson(value: unknown): UserMessage[] {
  if (!Array.isArray(value)) throw new PreviewError('invalid-batch', 'a batch is a JSON array of messages');
  for (const [i, message] of value.entries()) {
    const kind = isObject(message) && isObject(message.source) ? message.source.kind : undefined;
    if (typeof kind !== 'string') {
      throw new PreviewError(
        'invalid-batch',
        `message ${i} of the batch has no source; a message is { "id", "role": "user", "content", "source": { "kind", … } }`,
      );
    }
  }
  return value as UserMessage[];
}
