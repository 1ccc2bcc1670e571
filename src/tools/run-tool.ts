import type { ToolCallBlock } from '../contract.ts';
import { type AgentTool, parseArguments, type ToolContext } from './tool.ts';

export type ToolOutcome = { ok: true; text: string } | { ok: false; code: string; text: string };

/** One call of a tool may take so long. */
const DEFAULT_TIMEOUT_MS = 60_000;
/** What a model is given of a result, in characters. */
const MAX_RESULT = 4 * 1024 * 1024;

/**
 * Runs one call. Whatever goes wrong inside is an outcome that the model sees, never an exception.
 * @param context - its signal ends the call
 */
export async function runTool(
  tools: readonly AgentTool[],
  call: ToolCallBlock,
  context: ToolContext,
): Promise<ToolOutcome> {
  const tool = tools.find(({ name }) => name === call.name);
  if (!tool) {
    const known = tools.map(({ name }) => name).join(', ') || 'none';
    return {
      ok: false,
      code: 'unknown-tool',
      text: `There is no tool ${JSON.stringify(call.name)}. Tools: ${known}.`,
    };
  }
  const parsed = parseArguments(tool, call.arguments);
  if (!parsed.ok) return { ok: false, code: 'invalid-arguments', text: parsed.message };
  const timeoutMs = tool.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([context.signal, timeout]);
  try {
    const value = await Promise.race([
      tool.execute(parsed.value, { ...context, signal }),
      rejectedWhen(signal),
    ]);
    const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null');
    return text.length > MAX_RESULT
      ? {
          ok: false,
          code: 'result-too-large',
          text: `The result has ${text.length} characters, allowed: ${MAX_RESULT}.`,
        }
      : { ok: true, text };
  } catch (error) {
    if (timeout.aborted)
      return { ok: false, code: 'timeout', text: `The tool did not answer within ${timeoutMs / 1000} s.` };
    return { ok: false, code: 'tool-error', text: error instanceof Error ? error.message : String(error) };
  }
}

/** A tool that does not listen to its signal must not hold the turn. */
function rejectedWhen(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
