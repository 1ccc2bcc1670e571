/** A model endpoint for tests: real HTTP, the real wire protocol, answers by script. It records what it received. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface WireMessage {
  role: string;
  content: string | null;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

export interface WireRequest {
  model: string;
  messages: WireMessage[];
  tools?: unknown[];
}

export type ScriptedAnswer =
  /** `keepAliveMs`: so long only comments are sent first. */
  | { text: string; finish?: 'stop' | 'length'; keepAliveMs?: number }
  | { calls: { id?: string; name: string; arguments: string }[] }
  | { status: number; body?: string; headers?: Record<string, string> }
  /** Answers 200 with this body instead of a stream. */
  | { raw: string }
  /** Sends nothing until the caller goes away. */
  | 'hang'
  /** Sends half a stream and cuts the connection. */
  | 'cut';

export type Script = (request: WireRequest, index: number) => ScriptedAnswer | Promise<ScriptedAnswer>;

export interface ScriptedModel {
  baseURL: string;
  /** Request bodies as they came over the wire, in order. */
  bodies: string[];
  requests: WireRequest[];
  /** Calls that the caller gave up. */
  aborted: number;
  script: Script;
  close(): Promise<void>;
}

export async function startScriptedModel(script: Script): Promise<ScriptedModel> {
  const model: ScriptedModel = {
    baseURL: '',
    bodies: [],
    requests: [],
    aborted: 0,
    script,
    close: async () => undefined,
  };
  const server = createServer((request, response) => {
    answer(model, request, response).catch((error) => response.destroy(error));
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  model.baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  model.close = () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return model;
}

async function answer(
  model: ScriptedModel,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks).toString();
  const parsed = JSON.parse(body) as WireRequest;
  const index = model.requests.length;
  model.bodies.push(body);
  model.requests.push(parsed);
  response.on('close', () => {
    if (!response.writableFinished) model.aborted += 1;
  });
  const scripted = await model.script(parsed, index);
  if (scripted === 'hang') return;
  if (typeof scripted === 'object' && 'status' in scripted) {
    response.writeHead(scripted.status, { 'content-type': 'application/json', ...scripted.headers });
    response.end(
      scripted.body ??
        JSON.stringify({ error: { message: `scripted ${scripted.status}`, type: 'scripted' } }),
    );
    return;
  }
  if (typeof scripted === 'object' && 'raw' in scripted) {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end(scripted.raw);
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (delta: unknown, finish: string | null, usage?: unknown) =>
    response.write(
      `data: ${JSON.stringify({ id: `c${index}`, object: 'chat.completion.chunk', created: 0, model: parsed.model, choices: [{ index: 0, delta, finish_reason: finish }], ...(usage ? { usage } : {}) })}\n\n`,
    );
  const usage = {
    prompt_tokens: Math.ceil(body.length / 4),
    completion_tokens: 5,
    total_tokens: Math.ceil(body.length / 4) + 5,
  };
  if (scripted === 'cut') {
    send({ role: 'assistant', content: 'half an ans' }, null);
    response.destroy();
    return;
  }
  if ('text' in scripted) {
    for (let waited = 0; waited < (scripted.keepAliveMs ?? 0); waited += 100) {
      response.write(': still here\n\n');
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    send({ role: 'assistant', content: scripted.text }, null);
    send({}, scripted.finish ?? 'stop', usage);
  } else {
    const calls = scripted.calls.map((call, at) => ({
      index: at,
      id: call.id ?? `call-${index}-${at}`,
      type: 'function',
      function: { name: call.name, arguments: call.arguments },
    }));
    send({ role: 'assistant', tool_calls: calls }, null);
    send({}, 'tool_calls', usage);
  }
  response.end('data: [DONE]\n\n');
}
