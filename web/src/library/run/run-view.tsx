import { useQuery } from '@tanstack/react-query';
import { CircleAlert, WifiOff } from 'lucide-react';
import { type Agent, graphQuery } from '@/agents/agent-queries';
import { ApiError, isNotFound } from '@/api/problem';
import { useExecution } from '@/executions/use-execution';
import { useBlocks } from '@/graph/blocks';
import { GraphFigure } from '@/graph/graph-figure';
import { ReviewOfExecution } from '@/reviews/review-of-execution';
import { isFinal } from '@/ui/feedback/run-status';
import { Fold } from '@/ui/page/fold';
import { Panel } from '@/ui/page/page';
import { Empty, Failure, Loading } from '@/ui/page/states';
import type { Values } from '@/ui/schema-form/schema-form';
import { Outputs } from '@/ui/values/values';
import { FailedNodes } from './failed-nodes';
import { finalOutputs, liveOutputs } from './live-outputs';
import { NodeList } from './node-list';
import { RunHead } from './run-head';
import { RunOutputs } from './run-outputs';

type Props = { agent: Agent; executionId: string; onChangeInputs: (inputs: Values) => void };

/** One run, live or finished. */
export function RunView({ agent, executionId, onChangeInputs }: Props) {
  const run = useExecution(agent.graph_id, executionId);
  const graph = useQuery(graphQuery(agent.graph_id, run.execution?.graph_version ?? agent.graph_version));
  const blocks = useBlocks();
  const { execution, details } = run;

  if (!execution || !details) {
    if (!run.error) return <Loading label="Loading run" rows={3} height="h-28" />;
    if (isNotFound(run.error)) {
      return (
        <Empty icon={<CircleAlert />} title="Run not found">
          It may have been deleted, or it belongs to another agent.
        </Empty>
      );
    }
    return <Failure error={run.error} title="Couldn't load the run" onRetry={run.retry} />;
  }

  const hasEnded = isFinal(execution.status);
  // The outputs from the server are complete only at the end; until then they come from the events.
  const isComplete = isFinal(details.status);
  const outputs = isComplete ? finalOutputs(details.outputs) : liveOutputs(graph.data, blocks, run.nodes);
  return (
    <article aria-label="Run" className="flex min-w-0 flex-col gap-4">
      <RunHead
        agent={agent}
        execution={execution}
        nodes={run.nodes}
        onChangeInputs={onChangeInputs}
        onStopped={run.refetchDetails}
      />
      {run.reconnecting && !hasEnded && (
        <p role="status" className="flex items-center gap-2 rounded-xl bg-warn-soft px-4 py-3 text-sm">
          <WifiOff aria-hidden className="size-4 shrink-0 text-warn" />
          Connection lost. Reconnecting… The run continues meanwhile.
        </p>
      )}
      {run.error != null && (
        <Failure error={run.error} title="Couldn't get live updates" onRetry={run.retry} />
      )}
      {execution.error && (
        <Failure
          title="Run failed"
          error={new ApiError(409, execution.error.code, execution.error.message)}
        />
      )}
      {execution.status === 'REVIEW' && (
        <Panel title="Needs your approval">
          <ReviewOfExecution executionId={executionId} />
        </Panel>
      )}
      <RunOutputs
        outputs={outputs}
        from={isComplete ? 'beginning' : 'end'}
        isTruncated={isComplete && details.outputs_cut}
        hasEnded={hasEnded}
        schema={agent.output_schema}
      />
      <FailedNodes
        execution={execution}
        details={details}
        graph={graph.data}
        nodes={run.nodes}
        blocks={blocks}
      />
      <Panel title="Graph">
        {graph.data ? (
          <GraphFigure graph={graph.data} nodes={run.nodes} className="h-96" />
        ) : graph.error ? (
          <Failure error={graph.error} onRetry={() => graph.refetch()} />
        ) : (
          <Loading label="Loading graph" rows={1} height="h-96" />
        )}
      </Panel>
      <Panel>
        <Fold title={<span className="font-semibold text-ink">Inputs</span>}>
          {Object.keys(execution.inputs).length === 0 ? (
            <p className="text-sm text-muted">Started with the agent's default inputs.</p>
          ) : (
            <div className="text-sm">
              <Outputs
                outputs={Object.fromEntries(
                  Object.entries(execution.inputs).map(([name, value]) => [name, [value]]),
                )}
              />
            </div>
          )}
        </Fold>
      </Panel>
      <NodeList
        graph={graph.data}
        blocks={blocks}
        nodes={run.nodes}
        execution={execution}
        graphId={agent.graph_id}
      />
    </article>
  );
}
