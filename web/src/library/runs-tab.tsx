import { infiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ChevronLeft, Play } from 'lucide-react';
import type { Agent } from '@/agents/agent-queries';
import { api, dataOf } from '@/api/client';
import { NUMBERED_PAGES } from '@/api/pagination';
import { POLL_MS } from '@/executions/last-executions';
import type { ExecutionMeta } from '@/protocol';
import { buttonClasses } from '@/ui/buttons/button';
import { classes } from '@/ui/classes';
import { isFinal, RunStatus } from '@/ui/feedback/run-status';
import { EXACT_MATCH } from '@/ui/page/links';
import { LoadMore } from '@/ui/page/load-more';
import { Empty, Failure, Loading } from '@/ui/page/states';
import type { Values } from '@/ui/schema-form/schema-form';
import { ago, duration } from '@/ui/text/format';
import { RunView } from './run/run-view';

type Props = {
  agent: Agent;
  /** Id of the run in the URL. */
  chosen?: string;
  onChangeInputs: (inputs: Values) => void;
};

function runsQuery(graphId: string) {
  return infiniteQueryOptions({
    queryKey: ['executions', 'of', graphId],
    queryFn: ({ pageParam }) =>
      dataOf(
        api.GET('/api/graphs/{graph_id}/executions', {
          params: { path: { graph_id: graphId }, query: { page: pageParam } },
        }),
      ),
    ...NUMBERED_PAGES,
  });
}

/** List of the agent's runs beside the open one. On phones only one of the two is shown. */
export function RunsTab({ agent, chosen, onChangeInputs }: Props) {
  const runs = useInfiniteQuery({
    ...runsQuery(agent.graph_id),
    refetchInterval: ({ state }) =>
      state.data?.pages.some((page) => page.executions.some((run) => !isFinal(run.status))) && POLL_MS,
  });
  const all = runs.data?.pages.flatMap((page) => page.executions) ?? [];

  if (runs.error && all.length === 0 && !chosen) {
    return <Failure error={runs.error} title="Couldn't load the runs" onRetry={() => runs.refetch()} />;
  }
  if (runs.isPending && !chosen) return <Loading label="Loading runs" rows={4} height="h-14" />;
  if (all.length === 0 && !chosen) {
    return (
      <Empty
        icon={<Play />}
        title="No runs yet"
        action={
          <Link
            to="/library/agents/$id"
            params={{ id: agent.id }}
            search={{ activeTab: 'run' }}
            className={buttonClasses('primary')}
          >
            Run agent
          </Link>
        }
      >
        Past runs appear here with their inputs, outputs and steps.
      </Empty>
    );
  }
  return (
    <div
      className={classes(
        'grid grid-cols-[minmax(0,1fr)] items-start gap-6',
        chosen && 'lg:grid-cols-[17rem_minmax(0,1fr)]',
      )}
    >
      <section
        aria-label="Runs"
        className={classes('min-w-0 flex-col gap-1', chosen ? 'hidden lg:flex' : 'flex')}
      >
        <ul className="flex flex-col gap-1">
          {all.map((run) => (
            <li key={run.id}>
              <RunLink agentId={agent.id} run={run} isCurrent={run.id === chosen} />
            </li>
          ))}
        </ul>
        <LoadMore query={runs} />
      </section>
      {chosen && (
        <div className="flex min-w-0 flex-col gap-4">
          <Link
            to="/library/agents/$id"
            params={{ id: agent.id }}
            search={{ activeTab: 'runs' }}
            className="inline-flex min-h-10 items-center gap-1 self-start text-sm text-muted hover:text-ink lg:hidden"
          >
            <ChevronLeft aria-hidden className="size-4" />
            All runs
          </Link>
          <RunView key={chosen} agent={agent} executionId={chosen} onChangeInputs={onChangeInputs} />
        </div>
      )}
    </div>
  );
}

function RunLink({ agentId, run, isCurrent }: { agentId: string; run: ExecutionMeta; isCurrent: boolean }) {
  return (
    <Link
      to="/library/agents/$id"
      params={{ id: agentId }}
      search={{ activeTab: 'runs', activeItem: run.id }}
      aria-current={isCurrent ? 'page' : undefined}
      activeOptions={EXACT_MATCH}
      className="flex min-h-12 items-center gap-3 rounded-xl border border-transparent px-3 py-2 text-sm hover:bg-sunken aria-[current=page]:border-line aria-[current=page]:bg-surface"
    >
      <span className="min-w-0 flex-1">
        <span className="block truncate">{ago(run.created_at)}</span>
        <span className="block truncate text-xs text-muted">
          {isFinal(run.status) ? duration(run.stats.duration * 1000) : 'In progress'}
          {run.stats.is_dry_run && ' · dry run'}
          {run.stats.node_error_count > 0 && ` · ${run.stats.node_error_count} failed`}
        </span>
      </span>
      <RunStatus status={run.status} />
    </Link>
  );
}
