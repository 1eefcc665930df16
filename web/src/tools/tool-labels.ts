// The label, icon, verbs and object of a call, as shown in its row. They are part of the server's list of tools.

import { useQuery } from '@tanstack/react-query';
import type { LucideIcon } from 'lucide-react';
import { useCallback } from 'react';
import type { ToolDescription, ToolLabels, ToolObject } from '@/protocol';
import { humanName } from '@/ui/text/names';
import { toolIcon } from './tool-icons';
import { TOOLS_QUERY } from './tools-query';

export type ToolInput = Record<string, unknown>;

export type CallLabels = Omit<ToolLabels, 'icon' | 'object'> & {
  Icon: LucideIcon;
  /** What the verb applies to, taken from the input. */
  objectOf: (input: ToolInput) => string | undefined;
};

/** Returns the labels of a tool by its name. */
export type LabelsFor = (tool: string) => CallLabels;

export function useToolLabels(): LabelsFor {
  const { data: tools } = useQuery(TOOLS_QUERY);
  return useCallback((tool) => labelsOf(tool, tools), [tools]);
}

/** Labels of a tool. One that is not in the list, or a list that has not loaded, is labeled with its name, made readable. */
export function labelsOf(tool: string, tools: readonly ToolDescription[] = []): CallLabels {
  const known = tools.find(({ name }) => name === tool);
  const { icon, object, ...labels } = known?.labels ?? genericLabels(tool);
  return {
    ...labels,
    Icon: toolIcon(icon),
    objectOf: (input) => (object ? objectText(object, input) : undefined),
  };
}

/** As the server labels an external tool. */
function genericLabels(tool: string): ToolLabels {
  return {
    label: humanName(tool),
    icon: 'wrench',
    doing: 'Running',
    done: '',
    object: { arguments: [], style: 'plain' },
  };
}

function objectText({ arguments: names, style }: ToolObject, input: ToolInput): string | undefined {
  const values = names.length > 0 ? names.map((name) => input[name]) : Object.values(input);
  const text = values.find((value) => typeof value === 'string' && value.trim());
  if (typeof text !== 'string') return undefined;
  const line = oneLine(text);
  if (style === 'quoted') return `“${line}”`;
  return style === 'address' ? line.replace(/^https?:\/\//, '') : line;
}

/** The text on one line, truncated to what fits in a row. The details have all of it. */
function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > 160 ? `${line.slice(0, 160)}…` : line;
}
