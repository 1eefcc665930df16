// The blocks that the server has, and what a node of a graph is called.

import { useQuery } from '@tanstack/react-query';
import { api, dataOf } from '@/api/client';
import type { Node } from '@/protocol';
import { blockName, humanName } from '@/ui/names';

/** What the pages want to know of a block. The API document leaves its shape open. */
export type Block = {
  id: string;
  name: string;
  description: string;
  inputSchema: unknown;
  outputSchema: unknown;
  uiType: string;
  isSensitive: boolean;
};

export type Blocks = ReadonlyMap<string, Block>;

const NONE: Blocks = new Map();

/** By id. Empty until they are there: whoever shows a graph does not wait for the names. */
export function useBlocks(): Blocks {
  const blocks = useQuery({
    queryKey: ['blocks'],
    queryFn: async () => {
      const list = (await dataOf(api.GET('/api/blocks'))) as unknown as Block[];
      return new Map(list.map((block) => [block.id, block]));
    },
    // They change with the server only.
    staleTime: Number.POSITIVE_INFINITY,
  });
  return blocks.data ?? NONE;
}

/** The name that its author gave it, or else what it does. */
export function nodeTitle(node: Node, block: Block | undefined): string {
  const settings = node.input_default ?? {};
  const isInterface = block?.uiType === 'Input' || block?.uiType === 'Output';
  const given = [
    node.metadata?.customized_name,
    isInterface && settings.title,
    isInterface && settings.name,
    settings.agent_name,
  ].find((name) => typeof name === 'string' && name.trim());
  if (typeof given === 'string') return humanName(given);
  return block ? blockName(block.name) : 'A block that is not here';
}
