import type { NodeState } from '@/executions/execution-state';
import type { Block, Blocks } from '@/graph/blocks';
import type { GraphDetails, Node } from '@/protocol';

/** One output of an agent: the number of its values, and the latest ones that are available. */
export type NamedOutput = { name: string; values: unknown[]; total: number };

/** Outputs of a running execution so far, collected from its events. */
export function liveOutputs(
  graph: GraphDetails | undefined,
  blocks: Blocks,
  nodes: ReadonlyMap<string, NodeState>,
): NamedOutput[] {
  const outputs = new Map<string, NamedOutput>();
  for (const node of graph?.nodes ?? []) {
    const name = outputName(node, blocks.get(node.block_id));
    const emitted = nodes.get(node.id)?.outputs.get('output');
    if (!name || !emitted) continue;
    const before = outputs.get(name);
    outputs.set(name, {
      name,
      values: [...(before?.values ?? []), ...emitted.last],
      total: (before?.total ?? 0) + emitted.total,
    });
  }
  return [...outputs.values()];
}

/** Outputs of a finished execution, from the server. */
export function finalOutputs(outputs: Record<string, unknown>): NamedOutput[] {
  return Object.entries(outputs).map(([name, output]) => {
    const values = Array.isArray(output) ? output : [output];
    return { name, values, total: values.length };
  });
}

function outputName(node: Node, block: Block | undefined): string | undefined {
  const name = node.input_default?.name;
  return block?.uiType === 'Output' && typeof name === 'string' ? name : undefined;
}
