import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, dataOf } from '@/api/client';
import type { NodeExecution } from '@/protocol';
import { Button } from '@/ui/buttons/button';
import { RunStatus } from '@/ui/feedback/run-status';
import { Fold } from '@/ui/page/fold';
import { Failure, Loading } from '@/ui/page/states';
import { count, duration } from '@/ui/text/format';
import { blockName } from '@/ui/text/names';
import { Json } from '@/ui/values/json';
import { Outputs } from '@/ui/values/values';

type Props = { graphId: string; executionId: string; total: number; titles: ReadonlyMap<string, string> };

const PAGE = 50;

/** All node executions, loaded page by page on demand. */
export function NodeRuns({ graphId, executionId, total, titles }: Props) {
  const [requested, setRequested] = useState(false);
  const runs = useInfiniteQuery({
    queryKey: ['execution', executionId, 'nodes'],
    queryFn: ({ pageParam }) =>
      dataOf(
        api.GET('/api/graphs/{graph_id}/executions/{execution_id}', {
          params: {
            path: { graph_id: graphId, execution_id: executionId },
            query: { node_offset: pageParam, node_limit: PAGE },
          },
        }),
      ),
    initialPageParam: 0,
    getNextPageParam: ({ node_total }, _, offset) => (offset + PAGE < node_total ? offset + PAGE : undefined),
    enabled: requested,
  });
  if (!requested) {
    return (
      <Button kind="quiet" size="small" className="mt-2" onClick={() => setRequested(true)}>
        {total === 1 ? 'Show step' : `Show all ${count(total)} steps`}
      </Button>
    );
  }
  const all = runs.data?.pages.flatMap((page) => page.node_executions) ?? [];
  return (
    <div className="mt-4 flex flex-col gap-2">
      <h3 className="text-sm font-medium">All steps, in order</h3>
      {runs.isPending && <Loading rows={3} height="h-8" />}
      {runs.error && <Failure error={runs.error} onRetry={() => runs.refetch()} />}
      <ol className="divide-y divide-line">
        {all.map((run, index) => (
          <li key={run.node_exec_id} className="py-1.5">
            <NodeRunRow
              run={run}
              number={index + 1}
              title={titles.get(run.node_id) ?? blockName(run.block_name)}
            />
          </li>
        ))}
      </ol>
      {runs.hasNextPage && (
        <Button
          kind="quiet"
          size="small"
          className="self-start"
          busy={runs.isFetchingNextPage}
          onClick={() => runs.fetchNextPage()}
        >
          Show more
        </Button>
      )}
    </div>
  );
}

function NodeRunRow({ run, number, title }: { run: NodeExecution; number: number; title: string }) {
  const took = run.start_time && run.end_time ? Date.parse(run.end_time) - Date.parse(run.start_time) : null;
  return (
    <Fold
      title={
        <span className="flex min-h-8 min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
          <span className="text-xs tabular-nums">{count(number)}</span>
          <span className="min-w-0 break-words text-ink">{title}</span>
          <RunStatus status={run.status} />
          {took !== null && <span className="text-xs tabular-nums">{duration(took)}</span>}
        </span>
      }
    >
      <div className="flex flex-col gap-2 pl-5 text-sm">
        {run.error && (
          <p className="rounded-lg bg-bad-soft px-3 py-2 break-words whitespace-pre-wrap">{run.error}</p>
        )}
        <Fold title="Inputs">
          <Json value={run.input_data} />
        </Fold>
        <Outputs outputs={run.output_data} />
      </div>
    </Fold>
  );
}
