import { memo } from 'react';
import type { NodeState } from '@/executions/execution-state';
import type { Graph } from '@/protocol';
import { RunStatus } from '@/ui/feedback/run-status';
import { nodeTitle, useBlocks } from './blocks';
import { pinLabel } from './drawing';

/** Nodes beyond this number are counted, not listed. */
const MAX_NODES = 500;

type Props = { graph: Graph; nodes?: ReadonlyMap<string, NodeState>; hasEnded?: boolean };

/** Text version of the graph for screen readers and for the browser's search. */
export const GraphText = memo(function GraphText({ graph, nodes, hasEnded = false }: Props) {
  const blocks = useBlocks();
  const all = graph.nodes ?? [];
  const titles = new Map(all.map((node) => [node.id, nodeTitle(node, blocks.get(node.block_id))]));
  return (
    <ul tabIndex={0} className="flex max-h-80 flex-col gap-2 overflow-y-auto pl-5 text-sm">
      {all.slice(0, MAX_NODES).map((node) => {
        const state = nodes?.get(node.id);
        const links = (graph.links ?? []).filter((link) => link.source_id === node.id);
        return (
          <li key={node.id} className="break-words">
            <span className="font-medium">{titles.get(node.id)}</span>{' '}
            {state && <RunStatus status={state.status} />}
            {hasEnded && !state && <span className="text-muted">(not reached)</span>}
            {links.length > 0 && (
              <ul className="pl-4 text-muted">
                {links.map((link) => (
                  <li key={`${link.source_name}\0${link.sink_id}\0${link.sink_name}`}>
                    {pinLabel(link.source_name)} → {titles.get(link.sink_id) ?? 'missing block'},{' '}
                    {pinLabel(link.sink_name)}
                  </li>
                ))}
              </ul>
            )}
          </li>
        );
      })}
      {all.length > MAX_NODES && <li className="text-muted">and {all.length - MAX_NODES} more</li>}
    </ul>
  );
});
