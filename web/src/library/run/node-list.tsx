import { useState } from 'react';
import type { NodeState } from '@/executions/execution-state';
import { NodeOutputs } from '@/executions/node-outputs';
import { type Blocks, nodeTitle } from '@/graph/blocks';
import type { ExecutionMeta, GraphDetails } from '@/protocol';
import { Button } from '@/ui/buttons/button';
import { isFinal, RunStatus } from '@/ui/feedback/run-status';
import { Fold } from '@/ui/page/fold';
import { Panel } from '@/ui/page/page';
import { count } from '@/ui/text/format';
import { NodeRuns } from './node-runs';

type Props = {
  graph?: GraphDetails;
  blocks: Blocks;
  nodes: ReadonlyMap<string, NodeState>;
  execution: ExecutionMeta;
  graphId: string;
};

const FIRST_SHOWN = 40;

/** The nodes of the graph in the order in which they started, one row each. */
export function NodeList({ graph, blocks, nodes, execution, graphId }: Props) {
  const [shown, setShown] = useState(FIRST_SHOWN);
  const titles = new Map(graph?.nodes?.map((node) => [node.id, nodeTitle(node, blocks.get(node.block_id))]));
  const started = [...nodes.values()];
  return (
    <Panel title="Blocks">
      {started.length === 0 && !isFinal(execution.status) && (
        <p className="text-sm text-muted">No blocks have started yet.</p>
      )}
      <ul className="divide-y divide-line">
        {started.slice(0, shown).map((node) => (
          <li key={node.nodeId} className="py-1.5">
            <Fold
              title={
                <span className="flex min-h-8 min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
                  <span className="min-w-0 font-medium break-words text-ink">
                    {titles.get(node.nodeId) ?? 'Block'}
                  </span>
                  <RunStatus status={node.status} />
                  {node.runs > 1 && <span className="text-xs">{count(node.runs)} runs</span>}
                  {node.failed > 0 && node.runs > 1 && (
                    <span className="text-xs text-bad">{count(node.failed)} failed</span>
                  )}
                </span>
              }
            >
              <NodeOutputs node={node} />
            </Fold>
          </li>
        ))}
      </ul>
      {started.length > shown && (
        <Button kind="quiet" size="small" onClick={() => setShown(shown + 200)}>
          Show {count(Math.min(started.length - shown, 200))} more
        </Button>
      )}
      {isFinal(execution.status) && execution.stats.node_count > 0 && (
        <NodeRuns
          graphId={graphId}
          executionId={execution.id}
          total={execution.stats.node_count}
          titles={titles}
        />
      )}
    </Panel>
  );
}
