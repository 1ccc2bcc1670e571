import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, LookupFunction } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Json } from '../../src/contract.ts';
import { type HttpGetOptions, httpGetTool } from '../../src/tools/http-get.ts';
import { parseArguments } from '../../src/tools/tool.ts';

type Page = (request: IncomingMessage, response: ServerResponse) => void;

let server: Server;
let origin: string;
let port: number;
let requests: string[] = [];
const pages: Record<string, Page> = {};

beforeAll(async () => {
  server = createServer((request, response) => {
    requests.push(request.url!);
    const page = pages[request.url!.split('?', 1)[0]!];
    if (page) page(request, response);
    else response.writeHead(404, { 'content-type': 'text/plain' }).end('not here');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
  origin = `http://127.0.0.1:${port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  requests = [];
});

type Answer = {
  url: string;
  status: number;
  contentType: string;
  text: string;
  truncated?: string;
  error: { code: string; message: string };
};

async function get(
  url: string,
  options: HttpGetOptions = { allowPrivate: true },
  signal = new AbortController().signal,
) {
  const context = { idempotencyKey: 's/1/1/0', signal, now: () => 0 };
  return (await httpGetTool(options).execute({ url }, context)) as Answer & Json;
}

const send =
  (contentType: string, body: string | Buffer, headers: Record<string, string> = {}): Page =>
  (_, response) =>
    response.writeHead(200, { 'content-type': contentType, ...headers }).end(body);

describe('what it reads', () => {
  it('text, with its status and type', async () => {
    pages['/hello'] = send('text/html; charset=utf-8', '<p>Grüße 🙂</p>');
    expect(await get(`${origin}/hello?q=1`)).toEqual({
      url: `${origin}/hello?q=1`,
      status: 200,
      contentType: 'text/html',
      text: '<p>Grüße 🙂</p>',
    });
  });

  it('the page of an error status', async () => {
    expect(await get(`${origin}/nowhere`)).toMatchObject({ status: 404, text: 'not here' });
  });

  it('an answer without a body', async () => {
    pages['/empty'] = (_, response) => response.writeHead(204).end();
    expect(await get(`${origin}/empty`)).toMatchObject({ status: 204, text: '' });
  });

  it.each(['application/json', 'application/ld+json', 'application/xml', 'application/atom+xml', 'text/csv'])(
    '%s',
    async (type) => {
      pages['/typed'] = send(type, '[1]');
      expect(await get(`${origin}/typed`)).toMatchObject({ contentType: type, text: '[1]' });
    },
  );

  it.each(['image/png', 'application/octet-stream', 'application/pdf', 'application/jsonp', ''])(
    'not %s',
    async (type) => {
      pages['/typed'] = (_, response) =>
        response.writeHead(200, type ? { 'content-type': type } : {}).end('abc');
      expect((await get(`${origin}/typed`)).error).toMatchObject({ code: 'unsupported_content_type' });
    },
  );

  it('other charsets, and unknown ones as UTF-8', async () => {
    pages['/latin'] = send('text/plain; charset=ISO-8859-1', Buffer.from('caf\xe9', 'latin1'));
    expect((await get(`${origin}/latin`)).text).toBe('café');
    pages['/odd'] = send('text/plain; charset=klingon', 'café');
    expect((await get(`${origin}/odd`)).text).toBe('café');
  });

  it('encodings that came unasked', async () => {
    pages['/zipped'] = send('text/plain', gzipSync('unzipped'), { 'content-encoding': 'gzip' });
    expect((await get(`${origin}/zipped`)).text).toBe('unzipped');
    pages['/zstd'] = send('text/plain', 'x', { 'content-encoding': 'zstd' });
    expect((await get(`${origin}/zstd`)).error.message).toContain('zstd');
    pages['/broken'] = send('text/plain', 'no gzip', { 'content-encoding': 'gzip' });
    expect((await get(`${origin}/broken`)).error).toMatchObject({ code: 'unreachable' });
  });
});

describe('the size limit', () => {
  const limit = 64 * 1024;

  it('cuts, says so, and keeps characters whole', async () => {
    pages['/long'] = send('text/plain', `x${'🙂'.repeat(100_000)}`);
    const { text, truncated } = await get(`${origin}/long`);
    expect(Buffer.byteLength(text)).toBe(limit - 3);
    expect(text.isWellFormed() && !text.includes('\ufffd')).toBe(true);
    expect(truncated).toBe('only the first 64 KiB of text are shown');
  });

  it('leaves what just fits', async () => {
    pages['/fits'] = send('text/plain', 'x'.repeat(limit));
    const answer = await get(`${origin}/fits`);
    expect(answer.text).toHaveLength(limit);
    expect(answer).not.toHaveProperty('truncated');
  });

  it('holds for text that grows as UTF-8, and for a bomb', async () => {
    pages['/grows'] = send('text/plain; charset=latin1', Buffer.alloc(limit, 0xe9));
    expect(Buffer.byteLength((await get(`${origin}/grows`)).text)).toBe(limit);
    pages['/bomb'] = send('text/plain', gzipSync(Buffer.alloc(200 * 1024 * 1024)), {
      'content-encoding': 'gzip',
    });
    expect(await get(`${origin}/bomb`)).toMatchObject({ truncated: expect.anything() });
  });

  it('ends a page without end', async () => {
    pages['/endless'] = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      const timer = setInterval(() => response.write('y'.repeat(16_384)), 1);
      response.on('close', () => clearInterval(timer));
    };
    expect((await get(`${origin}/endless`)).text).toHaveLength(limit);
  });
});

describe('redirects', () => {
  beforeEach(() => {
    for (let hop = 0; hop < 5; hop++) {
      pages[`/hop${hop}`] = (_, response) => response.writeHead(302, { location: `/hop${hop + 1}` }).end();
    }
    pages['/hop5'] = send('text/plain', 'there');
  });

  it('are followed three times', async () => {
    expect(await get(`${origin}/hop2`)).toMatchObject({ url: `${origin}/hop5`, text: 'there' });
    expect((await get(`${origin}/hop1`)).error).toMatchObject({ code: 'too_many_redirects' });
    expect(requests).toEqual(['/hop2', '/hop3', '/hop4', '/hop5', '/hop1', '/hop2', '/hop3', '/hop4']);
  });

  it.each(['file:///etc/passwd', 'ftp://example.com/', 'http://user:secret@example.com/', 'http://'])(
    'are not followed to %s',
    async (location) => {
      pages['/away'] = (_, response) => response.writeHead(301, { location }).end();
      expect((await get(`${origin}/away`)).error).toMatchObject({ code: 'invalid_url' });
    },
  );
});

describe('addresses', () => {
  /** Answers every name: each look-up with the next list of addresses. */
  function names(...answers: string[][]): LookupFunction {
    let call = 0;
    return (_, options, callback) => {
      const list = answers[Math.min(call++, answers.length - 1)]!;
      const addresses = list.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
      if (options.all) callback(null, addresses);
      else callback(null, addresses[0]!.address, addresses[0]!.family);
    };
  }

  it.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://2130706433/',
    'http://0x7f.0.0.1/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://169.254.169.254/latest/meta-data/',
    'http://10.0.0.1/',
    'http://[fd00::1]/',
    'http://localhost/',
  ])('%s is refused', async (url) => {
    expect((await get(url, {})).error).toMatchObject({ code: 'address_refused' });
  });

  it('a name is refused by what it resolves to, and nothing is sent', async () => {
    const url = `http://rebind.example:${port}/`;
    const { error } = await get(url, { lookup: names(['127.0.0.1']) });
    expect(error).toMatchObject({ code: 'address_refused', message: expect.stringContaining('127.0.0.1') });
    const mixed = await get(url, { lookup: names(['93.184.215.14', '127.0.0.1']) });
    expect(mixed.error).toMatchObject({ code: 'address_refused' });
    expect(requests).toEqual([]);
  });

  it('a name is looked up once a connection: the checked address is the one connected to', async () => {
    // A second look-up would answer this machine.
    const rebinding = names(['192.0.2.1'], ['127.0.0.1']);
    let calls = 0;
    const lookup: LookupFunction = (hostname, options, callback) => {
      calls++;
      rebinding(hostname, options, callback);
    };
    const { error } = await get(`http://rebind.example:${port}/`, { lookup });
    expect(error.message).toContain('192.0.2.1');
    expect(calls).toBe(1);
  });

  it.each(['http://10.0.0.1/', 'http://[::1]/', '//inside.example/', 'http://localhost/'])(
    'a redirect to %s is refused',
    async (location) => {
      pages['/inward'] = (_, response) => response.writeHead(302, { location }).end();
      const options = { allowPrivate: ['127.0.0.1'], lookup: names(['192.168.0.1']) };
      expect((await get(`${origin}/inward`, options)).error).toMatchObject({ code: 'address_refused' });
      expect(requests).toEqual(['/inward']);
    },
  );

  it.each([
    'file:///etc/passwd',
    'gopher://example.com',
    'example.com',
    'http://',
    'http://a:b@example.com/',
    '//x',
  ])('%s is no address to fetch', async (url) => {
    expect((await get(url, {})).error).toMatchObject({ code: 'invalid_url' });
  });

  it('of more than 2,048 characters are refused as arguments', () => {
    const raw = JSON.stringify({ url: `http://example.com/${'x'.repeat(2048)}` });
    expect(parseArguments(httpGetTool(), raw).ok).toBe(false);
  });
});

describe('time', () => {
  beforeEach(() => {
    pages['/silent'] = () => {};
    pages['/stuck'] = (_, response) =>
      void response.writeHead(200, { 'content-type': 'text/plain' }).write('begun');
  });

  it.each(['/silent', '/stuck'])('%s ends at the limit', async (path) => {
    const { error } = await get(`${origin}${path}`, { allowPrivate: true, timeoutMs: 100 });
    expect(error).toMatchObject({ code: 'timeout', message: expect.stringContaining('0.1 s') });
  });

  it('counts the look-up in', async () => {
    const { error } = await get('http://slow.example/', { timeoutMs: 100, lookup: () => {} });
    expect(error).toMatchObject({ code: 'timeout' });
  });

  it.each(['/silent', '/stuck'])('%s ends when the call is cancelled, by its reason', async (path) => {
    const cancel = new AbortController();
    const answer = get(`${origin}${path}`, { allowPrivate: true }, cancel.signal);
    setTimeout(() => cancel.abort(new Error('cancelled')), 50);
    await expect(answer).rejects.toThrow('cancelled');
    await expect(get(`${origin}/hello`, { allowPrivate: true }, cancel.signal)).rejects.toThrow('cancelled');
  });
});

describe('what cannot be reached', () => {
  it('is answered as an error', async () => {
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address() as AddressInfo;
    closed.close();
    await once(closed, 'close');
    const { error } = await get(`http://127.0.0.1:${port}/`);
    expect(error).toMatchObject({ code: 'unreachable', message: expect.stringContaining('ECONNREFUSED') });
    pages['/cut'] = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/plain', 'content-length': '100' }).write('begun');
      setTimeout(() => response.destroy(), 20);
    };
    expect((await get(`${origin}/cut`)).error).toMatchObject({ code: 'unreachable' });
  });
});
