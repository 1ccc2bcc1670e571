import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type {
  LanguageModelV4FunctionTool,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ReadingData } from '../../src/contract.ts';
import { OFFLINE_MODEL, type OfflineModel, startOfflineModel } from '../../src/model/offline.ts';
import { readingText } from '../../src/reading/text.ts';
import { demoTools, toolSchemas } from '../../src/tools/index.ts';

let offline: OfflineModel;
beforeAll(async () => {
  offline = await startOfflineModel();
});
afterAll(() => offline.close());

const TIMESTAMP = '2026-07-15T09:01:01+08:00[Asia/Shanghai]';
const tools: LanguageModelV4FunctionTool[] = toolSchemas(demoTools).map(
  ({ name, description, parameters }) => ({
    type: 'function',
    name,
    description,
    inputSchema: parameters as LanguageModelV4FunctionTool['inputSchema'],
  }),
);

function zone(names: string[], display = names[0] ?? 'UTC'): ReadingData['zone'] {
  const status = (['unavailable', 'resolved'] as const)[names.length] ?? 'mixed';
  return { status, name: names.length === 1 ? names[0]! : null, names, display };
}

interface Said {
  turn?: number;
  step?: number;
  timestamp?: string;
  names?: string[];
  elapsedMs?: number | null;
}

function reading({
  turn = 1,
  step = 1,
  timestamp = TIMESTAMP,
  names = ['Asia/Shanghai'],
  elapsedMs = null,
}: Said = {}) {
  const elapsed = {
    since: step === 1 ? ('message' as const) : ('reading' as const),
    seq: null,
    ms: elapsedMs,
  };
  return user(readingText({ turn, step, zone: zone(names), elapsed }, timestamp));
}

function user(text: string): LanguageModelV4Prompt[number] {
  return { role: 'user', content: [{ type: 'text', text }] };
}

function assistant(text: string): LanguageModelV4Prompt[number] {
  return { role: 'assistant', content: [{ type: 'text', text }] };
}

async function ask(
  prompt: LanguageModelV4Prompt,
  options: { maxOutputTokens?: number; noTools?: true } = {},
) {
  const { noTools, ...rest } = options;
  const model = createOpenAICompatible({
    name: 'offline',
    baseURL: offline.baseURL,
    includeUsage: true,
  }).chatModel(OFFLINE_MODEL);
  const { stream } = await model.doStream({ prompt, ...(noTools ? {} : { tools }), ...rest });
  const parts: LanguageModelV4StreamPart[] = [];
  for await (const part of stream) parts.push(part);
  const finish = parts.find((part) => part.type === 'finish')!;
  return {
    parts,
    text: parts.map((part) => (part.type === 'text-delta' ? part.delta : '')).join(''),
    deltas: parts.filter((part) => part.type === 'text-delta').length,
    calls: parts.filter((part) => part.type === 'tool-call'),
    finish: finish.finishReason,
    usage: finish.usage,
  };
}

const textFor = async (question: string, said?: Said) => (await ask([user(question), reading(said)])).text;

describe('the time, from the latest reading', () => {
  it.each([
    ['What time is it?', 'It is 09:01:01 on Wednesday, 15 July 2026 (Asia/Shanghai).'],
    ['what day is it', 'Today is Wednesday, 15 July 2026 (Asia/Shanghai).'],
    ['Which weekday is today?', 'Today is Wednesday, 15 July 2026 (Asia/Shanghai).'],
    ['What day is it tomorrow?', 'Tomorrow is Thursday, 16 July 2026 (Asia/Shanghai).'],
    ["What's the date tomorrow?", 'Tomorrow is Thursday, 16 July 2026 (Asia/Shanghai).'],
    ['What day was yesterday?', 'Yesterday was Tuesday, 14 July 2026 (Asia/Shanghai).'],
    [
      'What day is the day after tomorrow?',
      'The day after tomorrow is Friday, 17 July 2026 (Asia/Shanghai).',
    ],
    ['What day is it in 30 days?', 'In 30 days is Friday, 14 August 2026 (Asia/Shanghai).'],
    ['Which time zone am I in?', 'The time zone is Asia/Shanghai.'],
    [
      'What time is it in Europe/Berlin, and what day is it tomorrow?',
      'Tomorrow is Thursday, 16 July 2026 (Europe/Berlin). It is 03:01:01 on Wednesday, 15 July 2026 (Europe/Berlin).',
    ],
    ['What time is it in Europe/Atlantis?', 'I do not know the time zone Europe/Atlantis.'],
  ])('%s', async (question, answer) => {
    expect(await textFor(question)).toBe(`[offline model] ${answer}`);
  });

  it('crosses the end of a year', async () => {
    const timestamp = '2026-12-31T23:59:59+08:00[Asia/Shanghai]';
    expect(await textFor('What day is it tomorrow?', { timestamp })).toContain('Friday, 1 January 2027');
  });

  it('says how long ago the last message was', async () => {
    const question = 'How long has it been since my last message?';
    expect(await textFor(question, { elapsedMs: 7_322_000 })).toContain('2h 2m 2s have passed');
    expect(await textFor(question)).toContain('no earlier message');
    expect(await textFor(question, { step: 2, elapsedMs: 3000 })).toContain('so I cannot say');
  });

  it('uses the latest reading alone', async () => {
    const { text } = await ask([
      user('hello'),
      reading({ timestamp: '2026-07-13T08:00:00+08:00[Asia/Shanghai]' }),
      assistant('hi'),
      user('What day is it?'),
      reading({ turn: 2, names: ['Europe/Berlin'], timestamp: '2026-07-18T09:00:00+02:00[Europe/Berlin]' }),
    ]);
    expect(text).toBe('[offline model] Today is Saturday, 18 July 2026 (Europe/Berlin).');
  });

  it.each([
    ['What day is it tomorrow?', 'Which day tomorrow is depends on the zone'],
    ['What day is it?', 'Which day it is depends on the zone'],
    ['What time is it?', 'It is 01:01:01 on Wednesday, 15 July 2026 by the clock of UTC, but'],
  ])('asks which zone is meant: %s', async (question, beginning) => {
    const timestamp = '2026-07-15T01:01:01+00:00[UTC]';
    const mixed = await textFor(question, { names: ['America/New_York', 'Asia/Shanghai'], timestamp });
    expect(mixed).toContain(beginning);
    expect(mixed).toContain(
      'more than one time zone (America/New_York, Asia/Shanghai). Which one do you mean?',
    );
    const unknown = await textFor(question, { names: [], timestamp });
    expect(unknown).toContain(beginning);
    expect(unknown).toContain('this request names no time zone. Which one do you mean?');
  });

  it('takes a zone that the prompt names, whatever the reading says', async () => {
    const timestamp = '2026-07-15T01:01:01+00:00[UTC]';
    const answer = await textFor('What day is it tomorrow in america/new_york?', { names: [], timestamp });
    expect(answer).toBe('[offline model] Tomorrow is Wednesday, 15 July 2026 (America/New_York).');
  });

  it('says so where there is no reading', async () => {
    expect((await ask([user('What time is it?')])).text).toContain('no time reading');
    const broken = 'Time sampled while preparing turn 1, step 1: yesterday, about noon';
    expect((await ask([user('What time is it?'), user(broken)])).text).toContain('no time reading');
  });

  it('answers each prompt of the turn, and none of an earlier turn', async () => {
    const { text } = await ask([
      user('What day is it?'),
      reading(),
      user('Which time zone is it?'),
      user('What time is it?'),
      reading({ turn: 2 }),
    ]);
    expect(text).toBe(
      '[offline model] The time zone is Asia/Shanghai. It is 09:01:01 on Wednesday, 15 July 2026 (Asia/Shanghai).',
    );
  });
});

describe('any prompt', () => {
  it.each([
    ['nothing it knows', 'Is the shop still open'],
    ['emoji', '👩‍👩‍👧‍👦🇪🇺 🤖'],
    ['other languages', '今天天气怎么样 · ¿Qué tal? · كيف الحال'],
    ['white space', ' \n\t '],
    ['a lone surrogate', 'half \ud83d of a pair'],
    ['200 KiB', 'word 🙂 '.repeat(20_000)],
    ['200 KiB of triggers', 'convert 1 how long what time is it in Asia/ call {'.repeat(5_000)],
  ])('with %s is answered', async (_, prompt) => {
    const before = performance.now();
    const { text, finish, usage } = await ask([user(prompt), reading()]);
    expect(performance.now() - before).toBeLessThan(2000);
    expect(text).toContain('[offline model]');
    expect(text).toContain('09:01:01');
    expect(finish).toEqual({ unified: 'stop', raw: 'stop' });
    expect(usage.inputTokens.total).toBeGreaterThan(0);
    expect(usage.outputTokens.total).toBeGreaterThan(0);
  });

  it('is streamed a few words a time, and the same each time', async () => {
    const first = await ask([user('hello'), reading()]);
    expect(first.deltas).toBeGreaterThan(5);
    expect((await ask([user('hello'), reading()])).parts).toEqual(first.parts);
  });

  it('is cut at the token limit', async () => {
    const { text, finish } = await ask([user('hello 🙂'), reading()], { maxOutputTokens: 5 });
    expect(text).toHaveLength(20);
    expect(finish.unified).toBe('length');
  });
});

describe('tools', () => {
  const call = (id: string, toolName: string, input: unknown): LanguageModelV4Prompt[number] => ({
    role: 'assistant',
    content: [{ type: 'tool-call', toolCallId: id, toolName, input }],
  });
  const result = (id: string, toolName: string, value: string): LanguageModelV4Prompt[number] => ({
    role: 'tool',
    content: [{ type: 'tool-result', toolCallId: id, toolName, output: { type: 'text', value } }],
  });

  it.each([
    ['convert 10 km to miles', 'convert_units', { value: 10, from: 'km', to: 'miles' }],
    [
      'Please convert -40 °F into degrees celsius.',
      'convert_units',
      { value: -40, from: '°F', to: 'degrees celsius' },
    ],
    [
      'Convert 1,234.5 us gallons to litres, thanks',
      'convert_units',
      { value: 1234.5, from: 'us gallons', to: 'litres' },
    ],
    [
      'convert 2,5 km/h to miles per hour now',
      'convert_units',
      { value: 2.5, from: 'km/h', to: 'miles per hour' },
    ],
    ['Please fetch http://example.com/a?b=1.', 'http_get', { url: 'http://example.com/a?b=1' }],
    ['get https://example.com/(x) for me', 'http_get', { url: 'https://example.com/(x)' }],
    ['call http_get {"url": "https://example.com"}', 'http_get', { url: 'https://example.com' }],
  ])('%s', async (prompt, name, input) => {
    const { calls, finish, text } = await ask([user(prompt), reading()]);
    expect(calls).toMatchObject([{ toolName: name }]);
    expect(JSON.parse(calls[0]!.input)).toEqual(input);
    expect(finish).toEqual({ unified: 'tool-calls', raw: 'tool_calls' });
    expect(text).toBe('');
  });

  it('are asked for together, then answered from', async () => {
    const turn = [user('convert 10 km to miles and convert 5 kg to lb. What day is it tomorrow?'), reading()];
    const { calls } = await ask(turn);
    expect(calls.map(({ input }) => JSON.parse(input))).toEqual([
      { value: 10, from: 'km', to: 'miles' },
      { value: 5, from: 'kg', to: 'lb' },
    ]);
    expect(new Set(calls.map(({ toolCallId }) => toolCallId)).size).toBe(2);
    const { text, finish } = await ask([
      ...turn,
      {
        role: 'assistant',
        content: calls.map(({ toolCallId, toolName, input }) => ({
          type: 'tool-call' as const,
          toolCallId,
          toolName,
          input: JSON.parse(input),
        })),
      },
      result(
        calls[0]!.toolCallId,
        'convert_units',
        '{"value":10,"from":"kilometre","result":6.2,"to":"mile"}',
      ),
      result(calls[1]!.toolCallId, 'convert_units', 'it broke'),
      reading({ step: 2, elapsedMs: 1000, timestamp: '2026-07-15T23:59:59+08:00[Asia/Shanghai]' }),
    ]);
    expect(finish.unified).toBe('stop');
    expect(text).toBe(
      '[offline model] 10 kilometre = 6.2 mile. The tool convert_units answered: it broke Tomorrow is Thursday, 16 July 2026 (Asia/Shanghai).',
    );
  });

  it('steering after a call asks for what is still owed', async () => {
    const { calls } = await ask([
      user('convert 10 km to miles'),
      reading(),
      call('a', 'convert_units', {}),
      result('a', 'convert_units', '{"error":{"code":"x","message":"no"}}'),
      user('fetch https://example.com/'),
      reading({ step: 2 }),
    ]);
    expect(calls).toMatchObject([{ toolName: 'http_get' }]);
  });

  it('an error of a tool is told, and ends the turn', async () => {
    const { text, calls } = await ask([
      user('fetch https://example.com/'),
      reading(),
      call('a', 'http_get', { url: 'https://example.com/' }),
      result('a', 'http_get', '{"error":{"code":"timeout","message":"too slow."}}'),
      reading({ step: 2 }),
    ]);
    expect(calls).toEqual([]);
    expect(text).toBe('[offline model] The tool http_get answered an error: too slow.');
  });

  it('that are not offered are not called', async () => {
    const { text, calls } = await ask([user('convert 10 km to miles'), reading()], { noTools: true });
    expect(calls).toEqual([]);
    expect(text).toContain('I have no tool convert_units here.');
  });

  it('get broken arguments as the prompt gave them', async () => {
    const { calls } = await ask([user('call convert_units {"value": oops}'), reading()]);
    expect(calls).toMatchObject([{ toolName: 'convert_units', input: '{"value": oops}' }]);
  });
});

describe('the wire', () => {
  const post = (body: unknown) =>
    fetch(`${offline.baseURL}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer anything' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const messages = [{ role: 'user', content: 'What day is it?' }];

  it('lists its model', async () => {
    const answer = await fetch(`${offline.baseURL}/models`);
    expect(await answer.json()).toMatchObject({ object: 'list', data: [{ id: 'offline', object: 'model' }] });
  });

  it('answers without streaming, content parts included', async () => {
    const parts = [{ role: 'user', content: [{ type: 'text', text: 'convert 1 m to cm' }] }];
    const offered = [{ type: 'function', function: { name: 'convert_units' } }];
    const answer = await post({ model: 'offline', messages: parts, tools: offered });
    expect(await answer.json()).toEqual({
      id: 'chatcmpl-offline-1',
      object: 'chat.completion',
      created: 0,
      model: 'offline',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: null,
            tool_calls: [
              {
                id: 'call_1_0',
                type: 'function',
                function: { name: 'convert_units', arguments: '{"value":1,"from":"m","to":"cm"}' },
              },
            ],
          },
          finish_reason: 'tool_calls',
          logprobs: null,
        },
      ],
      usage: { prompt_tokens: 9, completion_tokens: 12, total_tokens: 21 },
    });
  });

  it('streams usage only on request, and ends with [DONE]', async () => {
    const events = async (more: object) => {
      const answer = await post({ model: 'offline', messages, stream: true, ...more });
      expect(answer.headers.get('content-type')).toContain('text/event-stream');
      return (await answer.text())
        .trim()
        .split('\n\n')
        .map((event) => event.replace(/^data: /, ''));
    };
    const plain = await events({});
    expect(plain.at(-1)).toBe('[DONE]');
    expect(JSON.parse(plain.at(-2)!)).toMatchObject({ choices: [{ delta: {}, finish_reason: 'stop' }] });
    expect(plain.join('')).not.toContain('usage');
    const counted = await events({ stream_options: { include_usage: true } });
    expect(JSON.parse(counted.at(-2)!)).toMatchObject({ choices: [], usage: { prompt_tokens: 8 } });
    expect(JSON.parse(counted.at(-3)!)).toMatchObject({ usage: null });
  });

  it.each([
    ['no JSON', '{', 400, 'not JSON'],
    ['no messages', { model: 'offline', messages: [] }, 400, 'messages'],
    ['another model', { model: 'gpt', messages }, 404, 'gpt'],
  ])('refuses %s', async (_, body, status, message) => {
    const answer = await post(body);
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ error: { message: expect.stringContaining(message) } });
  });

  it('refuses other addresses', async () => {
    expect((await fetch(`${offline.baseURL}/nothing`)).status).toBe(404);
  });
});

describe('the server', () => {
  it('takes a given port, refuses a taken one, and gives it back', async () => {
    const first = await startOfflineModel();
    const port = Number(new URL(first.baseURL).port);
    await expect(startOfflineModel({ port })).rejects.toThrow(/EADDRINUSE/);
    await first.close();
    await first.close();
    const second = await startOfflineModel({ port });
    expect(second.baseURL).toBe(`http://127.0.0.1:${port}/v1`);
    await second.close();
  });

  it('close cuts a stream that runs', async () => {
    const slow = await startOfflineModel({ delayMs: 10_000 });
    const pending = fetch(`${slow.baseURL}/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({
        model: 'offline',
        stream: true,
        messages: [{ role: 'user', content: 'hello' }],
      }),
    }).then((answer) => answer.text());
    const outcome = expect(pending).rejects.toThrow();
    await new Promise((resolve) => setTimeout(resolve, 100));
    await slow.close();
    await outcome;
  });
});
