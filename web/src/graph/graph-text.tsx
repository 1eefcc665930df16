import { memo } from 'react';
import type { NodeState } from '@/library/run/run-state';
import type { GraphDetails } from '@/protocol';
import { RunStatus } from '@/ui/run-status';
import { nodeTitle, useBlocks } from './blocks';
import { pinLabel } from './drawing';

/** More than these nobody reads. */
const MOST = 500;

type Props = { graph: GraphDetails; nodes?: ReadonlyMap<string, NodeState> };

/** The same as the picture, for those who listen to it or search in it. */
export const GraphText = memo(function GraphText({ graph, nodes }: Props) {
  const blocks = useBlocks();
  const all = graph.nodes ?? [];
  const titles = new Map(all.map((node) => [node.id, nodeTitle(node, blocks.get(node.block_id))]));
  return (
    <ul tabIndex={0} className="flex max-h-80 flex-col gap-2 overflow-y-auto pl-5 text-sm">
      {all.slice(0, MOST).map((node) => {
        const state = nodes?.get(node.id);
        const links = (graph.links ?? []).filter((link) => link.source_id === node.id);
        return (
          <li key={node.id} className="break-words">
            <span className="font-medium">{titles.get(node.id)}</span>{' '}
            {state && <RunStatus status={state.status} />}
            {links.length > 0 && (
              <ul className="pl-4 text-muted">
                {links.map((link) => (
                  <li key={`${link.source_name}\0${link.sink_id}\0${link.sink_name}`}>
                    {pinLabel(link.source_name)} goes to{' '}
                    {titles.get(link.sink_id) ?? 'a block that is not here'}, {pinLabel(link.sink_name)}
                  </li>
                ))}
              </ul>
            )}
          </li>
        );
      })}
      {all.length > MOST && <li className="text-muted">and {all.length - MOST} more</li>}
    </ul>
  );
});
