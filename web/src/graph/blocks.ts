// The blocks of the server, and the titles of graph nodes.

import { useQuery } from '@tanstack/react-query';
import { api, dataOf } from '@/api/client';
import type { Node } from '@/protocol';
import { blockName, humanName } from '@/ui/text/names';

/** The fields of a block that the pages use. The API document does not define its schema. */
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

const NO_BLOCKS: Blocks = new Map();

/** Blocks by id. Empty until they are loaded: a graph is shown before its block names are known. */
export function useBlocks(): Blocks {
  const blocks = useQuery({
    queryKey: ['blocks'],
    queryFn: async () => {
      const list = (await dataOf(api.GET('/api/blocks'))) as unknown as Block[];
      return new Map(list.map((block) => [block.id, block]));
    },
    // Blocks only change with the server version.
    staleTime: Number.POSITIVE_INFINITY,
  });
  return blocks.data ?? NO_BLOCKS;
}

/** The custom name of a node, its name in the spec, or else the name of its block. */
export function nodeTitle(node: Node, block: Block | undefined): string {
  const settings = node.input_default ?? {};
  const isInterface = block?.uiType === 'Input' || block?.uiType === 'Output';
  const customName = [
    node.metadata?.customized_name,
    isInterface && settings.title,
    isInterface && settings.name,
    // The name of its step in the spec, by which problems and rehearsals refer to it.
    node.metadata?.step,
    settings.agent_name,
  ].find((name) => typeof name === 'string' && name.trim());
  if (typeof customName === 'string') return humanName(customName);
  return block ? blockName(block.name) : 'Missing block';
}
