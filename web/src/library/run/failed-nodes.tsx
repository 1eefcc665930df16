import { type NodeState, total } from '@/executions/execution-state';
import { type Blocks, nodeTitle } from '@/graph/blocks';
import type { ExecutionDetails, ExecutionMeta, GraphDetails } from '@/protocol';
import { Panel } from '@/ui/page/page';
import { count } from '@/ui/text/format';
import { blockName } from '@/ui/text/names';

type Props = {
  execution: ExecutionMeta;
  details: ExecutionDetails;
  graph?: GraphDetails;
  nodes: ReadonlyMap<string, NodeState>;
  blocks: Blocks;
};

type FailedNode = { key: string; name: string; error: string; times: number };

/** Maximum number shown here; the list of blocks has all of them. */
const MAX_SHOWN = 8;

/** The blocks that failed, with their errors. The run itself may have continued. */
export function FailedNodes({ execution, details, graph, nodes, blocks }: Props) {
  const failed = failedOf({ execution, details, graph, nodes, blocks });
  if (failed.length === 0) return null;
  const runs = Math.max(execution.stats.node_error_count, total(nodes, 'failed'), failed.length);
  return (
    <Panel title={runs === 1 ? 'One step failed' : `${count(runs)} steps failed`}>
      <ul className="flex flex-col gap-2">
        {failed.slice(0, MAX_SHOWN).map(({ key, name, error, times }) => (
          <li key={key} className="rounded-lg bg-bad-soft px-3 py-2 text-sm">
            <p className="font-medium break-words">
              {name}
              {times > 1 && <span className="font-normal text-muted"> · {count(times)} times</span>}
            </p>
            <p className="break-words whitespace-pre-wrap">{error}</p>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function failedOf({ details, graph, nodes, blocks }: Props): FailedNode[] {
  const title = (nodeId: string) => {
    const node = graph?.nodes?.find((one) => one.id === nodeId);
    return node && nodeTitle(node, blocks.get(node.block_id));
  };
  const live = [...nodes.values()].filter((node) => node.failed > 0);
  if (live.length > 0) {
    return live.map((node) => ({
      key: node.nodeId,
      name: title(node.nodeId) ?? 'Block',
      error: node.error ?? 'Failed with no error message.',
      times: node.failed,
    }));
  }
  return details.failed_nodes.map((node, index) => ({
    key: `${index}`,
    name: title(node.node_id) ?? blockName(node.block_name),
    error: node.error,
    times: 1,
  }));
}
