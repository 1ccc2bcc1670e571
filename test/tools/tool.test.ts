import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { demoTools } from '../../src/tools/index.ts';
import { defineTool, parseArguments, toolSchemas } from '../../src/tools/tool.ts';

const tool = defineTool({
  name: 'greet',
  description: 'Greets.',
  parameters: z.strictObject({ name: z.string().min(1), loud: z.boolean().default(false) }),
  execute: async ({ name, loud }) => (loud ? name.toUpperCase() : name),
});

describe('toolSchemas', () => {
  it('says what the model has to write', () => {
    expect(toolSchemas([tool])).toEqual([
      {
        name: 'greet',
        description: 'Greets.',
        parameters: {
          type: 'object',
          properties: { name: { type: 'string', minLength: 1 }, loud: { type: 'boolean', default: false } },
          required: ['name'],
          additionalProperties: false,
        },
      },
    ]);
  });

  it('is the same whatever the order of the tools', () => {
    const [first, second] = [toolSchemas(demoTools), toolSchemas(demoTools.toReversed())];
    expect(JSON.stringify(second)).toBe(JSON.stringify(first));
    expect(first.map(({ name }) => name)).toEqual(['convert_units', 'http_get']);
  });

  it.each([
    [[tool, tool], /two tools are named greet/],
    [[{ ...tool, name: 'say hello' }], /"say hello" is refused/],
    [[{ ...tool, parameters: z.string() }], /greet must be a zod object/],
  ])('refuses what a model could not tell apart or call', (tools, message) => {
    expect(() => toolSchemas(tools)).toThrow(message);
  });
});

describe('parseArguments', () => {
  it('fills defaults in', () => {
    expect(parseArguments(tool, '{"name":"Ada"}')).toEqual({ ok: true, value: { name: 'Ada', loud: false } });
  });

  it('takes nothing for an empty object', () => {
    const none = defineTool({ ...tool, parameters: z.strictObject({}), execute: async () => null });
    expect(parseArguments(none, '')).toEqual({ ok: true, value: {} });
  });

  it.each([
    ['{"name":', 'not JSON'],
    ['{"name":""}', 'at name'],
    ['{"name":"Ada","age":3}', 'age'],
    ['[]', 'do not fit'],
    ['null', 'do not fit'],
  ])('tells the model what is wrong with %s', (raw, message) => {
    expect(parseArguments(tool, raw)).toEqual({ ok: false, message: expect.stringContaining(message) });
  });
});
