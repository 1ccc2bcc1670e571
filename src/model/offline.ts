import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import { z } from 'zod';
import { answer } from './offline/answer.ts';
import { chatRequest, completionBody, completionChunks, errorBody } from './offline/wire.ts';

/** The one model id that the offline endpoint knows. */
export const OFFLINE_MODEL = 'offline';

export interface OfflineModelOptions {
  /** Port on 127.0.0.1; 0 or absent takes a free one. */
  port?: number;
  /** Milliseconds to wait before each streamed chunk; default 0. */
  delayMs?: number;
}

export interface OfflineModel {
  /** Such as `http://127.0.0.1:43210/v1`. */
  baseURL: string;
  /** Stops listening and cuts what is still open. May be called twice. */
  close(): Promise<void>;
}

/**
 * Starts the stand-in that answers where no model is configured: OpenAI's chat-completions protocol over HTTP on
 * 127.0.0.1, with streaming, tools and usage, so that it goes the same way as a real endpoint. It takes any API key,
 * answers from the readings in its messages alone, and says in each answer what it is.
 * @throws the listen error, such as `EADDRINUSE`
 */
export async function startOfflineModel({
  port = 0,
  delayMs = 0,
}: OfflineModelOptions = {}): Promise<OfflineModel> {
  const app = offlineApp(delayMs);
  // The globals stay the process's own: a worker in it calls real models with them.
  const server = createAdaptorServer({
    fetch: app.fetch,
    createServer,
    overrideGlobalObjects: false,
  }) as Server;
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const { port: taken } = server.address() as AddressInfo;
  let closed: Promise<void> | undefined;
  return {
    baseURL: `http://127.0.0.1:${taken}/v1`,
    close: () => {
      closed ??= new Promise((resolve, reject) => {
        server.close((error) => (error ? reject(error) : resolve()));
        server.closeAllConnections();
      });
      return closed;
    },
  };
}

function offlineApp(delayMs: number): Hono {
  const app = new Hono();
  app.get('/v1/models', (c) =>
    c.json({
      object: 'list',
      data: [{ id: OFFLINE_MODEL, object: 'model', created: 0, owned_by: 'temporal-time-context' }],
    }),
  );
  app.post('/v1/chat/completions', (c) => chat(c, delayMs));
  app.notFound((c) => c.json(errorBody(`unknown address ${c.req.method} ${c.req.path}`), 404));
  app.onError((error, c) => c.json(errorBody(`the offline model failed: ${error.message}`), 500));
  return app;
}

async function chat(c: Context, delayMs: number): Promise<Response> {
  let body: unknown;
  try {
    body = await c.req.json();
  } catch {
    return c.json(errorBody('the request body is not JSON'), 400);
  }
  const parsed = chatRequest.safeParse(body);
  if (!parsed.success) return c.json(errorBody(z.prettifyError(parsed.error)), 400);
  const request = parsed.data;
  if (request.model !== OFFLINE_MODEL) {
    const message = `the offline endpoint knows the model ${OFFLINE_MODEL}, not ${request.model}`;
    return c.json(errorBody(message, 'model_not_found'), 404);
  }
  const completion = answer(request);
  if (!request.stream) return c.json(completionBody(completion));
  return streamSSE(c, async (stream) => {
    for (const chunk of completionChunks(completion, request.stream_options?.include_usage === true)) {
      if (delayMs > 0) await stream.sleep(delayMs);
      if (stream.aborted) return;
      await stream.writeSSE({ data: JSON.stringify(chunk) });
    }
    await stream.writeSSE({ data: '[DONE]' });
  });
}
