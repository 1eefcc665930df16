import type { ToolPart } from './types';

/** The name of the tool of a call. */
export function toolOf(part: ToolPart): string {
  return part.type === 'dynamic-tool' ? part.toolName : part.type.slice('tool-'.length);
}
