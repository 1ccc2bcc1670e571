import type { LanguageModelV4FunctionTool, LanguageModelV4Prompt } from '@ai-sdk/provider';
import type { ToolSchema } from '../contract.ts';
import type { ModelRequest } from '../session/request.ts';

/**
 * The request in the AI SDK's words. A message maps by itself, whatever stands around it, so that the bytes of a
 * request stay the beginning of the next one's.
 */
export function toPrompt({ header, messages }: ModelRequest): LanguageModelV4Prompt {
  const prompt: LanguageModelV4Prompt = header.system ? [{ role: 'system', content: header.system }] : [];
  const toolNames = new Map<string, string>();
  for (const message of messages) {
    if (message.role === 'assistant') {
      prompt.push({
        role: 'assistant',
        content: message.content.map((block) => {
          if (block.type !== 'tool-call') return { type: block.type, text: block.text };
          toolNames.set(block.id, block.name);
          return {
            type: 'tool-call' as const,
            toolCallId: block.id,
            toolName: block.name,
            input: parsed(block.arguments),
          };
        }),
      });
      continue;
    }
    for (const block of message.content) {
      if (block.type === 'tool-result') {
        const value = block.content.map(({ text }) => text).join('');
        prompt.push({
          role: 'tool',
          content: [
            {
              type: 'tool-result',
              toolCallId: block.toolCallId,
              toolName: toolNames.get(block.toolCallId) ?? 'unknown',
              output: block.isError ? { type: 'error-text', value } : { type: 'text', value },
            },
          ],
        });
      } else if (block.type === 'text') {
        prompt.push({ role: 'user', content: [{ type: 'text', text: block.text }] });
      }
    }
  }
  return prompt;
}

export function toTools(tools: readonly ToolSchema[] = []): LanguageModelV4FunctionTool[] {
  return tools.map(({ name, description, parameters }) => ({
    type: 'function',
    name,
    description,
    inputSchema: parameters as LanguageModelV4FunctionTool['inputSchema'],
  }));
}

/** Arguments that are no JSON stay the string they are: the model sees what it wrote. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
