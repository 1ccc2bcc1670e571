import { convertUnits } from './convert-units.ts';
import { httpGetTool } from './http-get.ts';
import type { AgentTool } from './tool.ts';

export { convertUnits } from './convert-units.ts';
export { type HttpGetOptions, httpGetTool } from './http-get.ts';
export {
  type AgentTool,
  defineTool,
  type ParsedArguments,
  parseArguments,
  type ToolContext,
  toolError,
  toolSchemas,
} from './tool.ts';

/** The two tools that the agent has out of the box. Both may run twice. */
export const demoTools: readonly AgentTool[] = [convertUnits, httpGetTool()];
