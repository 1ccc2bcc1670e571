import { z } from 'zod';
import type { Json, ToolSchema } from '../contract.ts';

/** What a tool gets beside its arguments. */
export interface ToolContext {
  /** The same for every attempt of one call, `session/turn/step/index`: a tool with effects passes it on. */
  idempotencyKey: string;
  /** Aborts when the turn is cancelled or the worker shuts down; a tool then throws the signal's reason. */
  signal: AbortSignal;
  /** The clock, epoch milliseconds. Tools read no other. */
  now(): number;
}

/** A tool that the model may call. */
export interface AgentTool<Arguments = unknown> {
  /** 1 to 64 of `A-Z a-z 0-9 _ -`, unique among a worker's tools. */
  name: string;
  /** What it does and when to use it, for the model. */
  description: string;
  /** A zod object; its JSON Schema goes to the model, and the model's arguments are checked with it. */
  parameters: z.ZodType<Arguments>;
  /** `safe`: running it twice does no harm, so a lost attempt is run again. Absent: it answers `outcome-unknown`. */
  retry?: 'safe';
  /** One call may take so long, in milliseconds; default 60,000. */
  timeoutMs?: number;
  /**
   * @returns text, or JSON that the model gets as text; an expected failure is a value of {@link toolError}
   * @throws what goes wrong unexpectedly: it becomes an error tool result
   */
  execute(args: Arguments, context: ToolContext): Promise<Json>;
}

/** Gives `execute` the type of its arguments from `parameters`. */
export function defineTool<Schema extends z.ZodType>(
  tool: AgentTool<z.output<Schema>> & { parameters: Schema },
): AgentTool {
  return tool;
}

/** A failure that a tool answers as a value: a stable code, a sentence for the model, and what else helps it. */
export function toolError(code: string, message: string, details: { [key: string]: Json } = {}): Json {
  return { error: { code, message, ...details } };
}

const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * The tools as a request header carries them. Sorted by name: the order of a configuration is not a change of header.
 * @throws Error that names a tool with a bad name, a name that is used twice, or parameters that are no object
 */
export function toolSchemas(tools: readonly AgentTool[]): ToolSchema[] {
  const names = new Set<string>();
  const schemas = tools.map(({ name, description, parameters }) => {
    if (!TOOL_NAME.test(name)) {
      throw new Error(`tool name ${JSON.stringify(name)} is refused; allowed are 1 to 64 of A-Z a-z 0-9 _ -`);
    }
    if (names.has(name)) throw new Error(`two tools are named ${name}; give one of them another name`);
    names.add(name);
    return { name, description, parameters: jsonSchema(name, parameters) };
  });
  return schemas.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function jsonSchema(name: string, parameters: z.ZodType): ToolSchema['parameters'] {
  // `input`: what the model has to write, in which a field with a default is optional.
  const { $schema: _, ...schema } = z.toJSONSchema(parameters, { io: 'input' });
  if (schema.type !== 'object') throw new Error(`the parameters of tool ${name} must be a zod object`);
  // The round trip drops what is no JSON, such as zod's hidden markers.
  return JSON.parse(JSON.stringify(schema)) as ToolSchema['parameters'];
}

export type ParsedArguments<Arguments> = { ok: true; value: Arguments } | { ok: false; message: string };

/**
 * Reads the raw arguments of a tool call. Never throws: a bad call is told to the model in `message`.
 * Empty text is an empty object, as models write it for a tool without arguments.
 */
export function parseArguments<Arguments>(
  tool: AgentTool<Arguments>,
  raw: string,
): ParsedArguments<Arguments> {
  let value: unknown;
  try {
    value = raw.trim() === '' ? {} : JSON.parse(raw);
  } catch (error) {
    return { ok: false, message: `the arguments of ${tool.name} are not JSON: ${(error as Error).message}` };
  }
  const parsed = tool.parameters.safeParse(value);
  if (parsed.success) return { ok: true, value: parsed.data };
  return { ok: false, message: `the arguments of ${tool.name} do not fit: ${z.prettifyError(parsed.error)}` };
}
