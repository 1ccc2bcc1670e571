import { lookup } from 'node:dns';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { Readable } from 'node:stream';
import { TextDecoder } from 'node:util';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { z } from 'zod';
import type { Json } from '../contract.ts';
import { isPublicAddress } from './public-address.ts';
import { type AgentTool, defineTool, toolError } from './tool.ts';

export interface HttpGetOptions {
  /** Also fetch from private, loopback and link-local addresses: from all, or from those listed. Default false. */
  allowPrivate?: boolean | readonly string[];
  /** For everything together: names, connections, redirects, body. Milliseconds, default 10,000. */
  timeoutMs?: number;
  /** UTF-8 bytes of text that the model gets. Default 64 KiB. */
  maxBytes?: number;
  maxRedirects?: number;
  /** Replaces the system's name resolution, in tests. */
  lookup?: LookupFunction;
}

type Limits = Required<Omit<HttpGetOptions, 'lookup'>> & { lookup: LookupFunction };

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const TEXT_TYPE = /^(?:text\/[\w.+-]+|application\/(?:[\w.-]+\+)?(?:json|xml))$/;
const DECODERS: Record<string, () => NodeJS.ReadWriteStream & Readable> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** A failure that the model is told as a value. */
class Refusal extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * `http_get`: fetches a text page. Answers `{ url, status, contentType, text, truncated? }`, also for a status that is
 * an error. Errors: `invalid_url`, `address_refused`, `too_many_redirects`, `unsupported_content_type`, `timeout`,
 * `unreachable`. An abort of the call's signal is thrown, not answered.
 */
export function httpGetTool(options: HttpGetOptions = {}): AgentTool {
  const limits: Limits = {
    allowPrivate: false,
    timeoutMs: 10_000,
    maxBytes: 64 * 1024,
    maxRedirects: 3,
    lookup: lookup as LookupFunction,
    ...options,
  };
  return defineTool({
    name: 'http_get',
    description:
      'Fetches a public http or https address and returns its text (HTML, plain text, JSON or XML), cut when it is long.',
    parameters: z.strictObject({
      url: z.string().min(1).max(2048).describe('The full address, such as "https://example.com/page".'),
    }),
    retry: 'safe',
    async execute({ url }, { signal }) {
      const deadline = new AbortController();
      const timer = setTimeout(() => deadline.abort(), limits.timeoutMs);
      try {
        return await get(url, limits, AbortSignal.any([signal, deadline.signal]));
      } catch (error) {
        signal.throwIfAborted();
        if (deadline.signal.aborted) {
          return toolError('timeout', `${url} took more than ${limits.timeoutMs / 1000} s.`);
        }
        if (error instanceof Refusal) return toolError(error.code, error.message);
        return toolError('unreachable', `${url} cannot be fetched: ${reason(error)}.`);
      } finally {
        clearTimeout(timer);
      }
    },
  });
}

async function get(given: string, limits: Limits, signal: AbortSignal): Promise<Json> {
  let url = checkedUrl(given, limits);
  for (let redirects = 0; ; redirects++) {
    const response = await open(url, limits, signal);
    try {
      const { location } = response.headers;
      const status = response.statusCode ?? 0;
      if (!REDIRECTS.has(status) || location === undefined)
        return await answerOf(url, status, response, limits);
      if (redirects === limits.maxRedirects) {
        throw new Refusal('too_many_redirects', `${given} redirects more than ${limits.maxRedirects} times.`);
      }
      url = checkedUrl(location, limits, url);
    } finally {
      response.destroy();
    }
  }
}

function checkedUrl(text: string, { allowPrivate }: Limits, base?: URL): URL {
  const url = URL.parse(text, base?.href);
  if (!url)
    throw new Refusal(
      'invalid_url',
      `${JSON.stringify(text)} is not an address; give a full http or https URL.`,
    );
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new Refusal('invalid_url', `Only http and https addresses are fetched, not ${url.protocol}`);
  }
  if (url.username || url.password) {
    throw new Refusal('invalid_url', 'An address with a user name or a password is not fetched.');
  }
  // An address in the URL is connected to without a look-up, so it is checked here.
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && !isAllowed(host, allowPrivate)) throw addressRefused(host);
  return url;
}

function isAllowed(address: string, allowPrivate: Limits['allowPrivate']): boolean {
  if (typeof allowPrivate === 'boolean') return allowPrivate || isPublicAddress(address);
  return allowPrivate.includes(address) || isPublicAddress(address);
}

function addressRefused(host: string, address?: string): Refusal {
  const what = address === undefined ? host : `${host} (${address})`;
  return new Refusal('address_refused', `${what} is not a public address; only public ones are fetched.`);
}

/** Sends the request over a connection of its own and answers when the headers are there. */
function open(url: URL, limits: Limits, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const request: ClientRequest = send(url, {
      // A pooled connection would skip the look-up, and with it the check.
      agent: false,
      lookup: checkedLookup(limits),
      signal,
      headers: {
        accept: 'text/*, application/json, application/xml;q=0.9, */*;q=0.1',
        'accept-encoding': 'identity',
        'user-agent': 'temporal-time-context (http_get)',
      },
    });
    request.on('response', resolve);
    request.on('error', reject);
    request.end();
  });
}

/**
 * A look-up that refuses names with an address that is not public. The connection is made to the very addresses that
 * it hands on, so a name that resolves differently a moment later changes nothing.
 */
function checkedLookup({ allowPrivate, lookup: resolve }: Limits): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, options, (error, found, family) => {
      if (!error) {
        const addresses = typeof found === 'string' ? [found] : found.map(({ address }) => address);
        const refused = addresses.find((address) => !isAllowed(address, allowPrivate));
        if (refused !== undefined) return callback(addressRefused(hostname, refused), found, family);
      }
      callback(error, found, family);
    });
  };
}

async function answerOf(
  url: URL,
  status: number,
  response: IncomingMessage,
  { maxBytes }: Limits,
): Promise<Json> {
  const header = response.headers['content-type'] ?? '';
  const contentType = header.split(';', 1)[0]!.trim().toLowerCase();
  if (!TEXT_TYPE.test(contentType) && !(contentType === '' && hasNoBody(status, response))) {
    throw new Refusal(
      'unsupported_content_type',
      `${url.href} answered ${status} with content type ${contentType || '(none)'}; only text, JSON and XML are read.`,
    );
  }
  const { bytes, whole } = await firstBytes(decoded(url, response), maxBytes);
  const { text, cut } = shortened(decoderOf(header).decode(bytes, { stream: !whole }), maxBytes);
  const truncated = cut || !whole;
  return {
    url: url.href,
    status,
    contentType,
    text,
    ...(truncated ? { truncated: `only the first ${maxBytes / 1024} KiB of text are shown` } : {}),
  };
}

function hasNoBody(status: number, response: IncomingMessage): boolean {
  return status === 204 || status === 304 || response.headers['content-length'] === '0';
}

/** The body without its content encoding, which some servers apply unasked. */
function decoded(url: URL, response: IncomingMessage): Readable {
  const encoding = (response.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (encoding === 'identity') return response;
  const decoder = DECODERS[encoding]?.();
  if (!decoder) {
    throw new Refusal(
      'unsupported_content_type',
      `${url.href} answered in the encoding ${encoding}, which is not read.`,
    );
  }
  response.on('error', (error) => decoder.destroy(error));
  return response.pipe(decoder);
}

/** Reads until there are enough bytes, and one more to know that there are more. */
async function firstBytes(body: Readable, maxBytes: number): Promise<{ bytes: Buffer; whole: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBytes) return { bytes: Buffer.concat(chunks).subarray(0, maxBytes), whole: false };
  }
  return { bytes: Buffer.concat(chunks), whole: true };
}

function decoderOf(contentType: string): TextDecoder {
  const charset = /charset\s*=\s*"?([^\s;"]+)/i.exec(contentType)?.[1];
  try {
    return new TextDecoder(charset ?? 'utf-8');
  } catch {
    return new TextDecoder();
  }
}

/** Other charsets grow as UTF-8, in which the limit is meant. A streaming decoder drops the character at the cut. */
function shortened(text: string, maxBytes: number): { text: string; cut: boolean } {
  if (Buffer.byteLength(text) <= maxBytes) return { text, cut: false };
  const kept = Buffer.from(text).subarray(0, maxBytes);
  return { text: new TextDecoder().decode(kept, { stream: true }), cut: true };
}

function reason(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reason(error.errors[0]);
  const { code, message } = error as { code?: unknown; message?: string };
  return message || String(code ?? error);
}
