import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { CircleStop, MoreHorizontal, PencilLine, RotateCcw, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { Agent } from '@/agents/agent-queries';
import { api, dataOf } from '@/api/client';
import { errorMessage } from '@/api/problem';
import { type NodeState, total } from '@/executions/execution-state';
import { executionKey } from '@/executions/use-execution';
import type { ExecutionMeta } from '@/protocol';
import { Button, IconButton } from '@/ui/buttons/button';
import { Menu, MenuItem } from '@/ui/buttons/menu';
import { Confirm } from '@/ui/dialog/confirm';
import { Badge } from '@/ui/feedback/badge';
import { isFinal, RunStatus } from '@/ui/feedback/run-status';
import { showToast } from '@/ui/feedback/toast';
import type { Values } from '@/ui/schema-form/schema-form';
import { count, duration, when } from '@/ui/text/format';
import { useElapsed } from '@/ui/text/use-elapsed';
import { useStartRun } from '../start-run';
import { StartRunError } from '../start-run-error';

type Props = {
  agent: Agent;
  execution: ExecutionMeta;
  /** Live state of its nodes, which is ahead of the counters of the run. */
  nodes: ReadonlyMap<string, NodeState>;
  onChangeInputs: (inputs: Values) => void;
  /** The button shows "Stopping" until this resolves. */
  onStopped: () => Promise<unknown>;
};

/** Status, counters and actions of a run. */
export function RunHead({ agent, execution, nodes, onChangeInputs, onStopped }: Props) {
  const hasEnded = isFinal(execution.status);
  const elapsed = useElapsed(!hasEnded, Date.parse(execution.started_at ?? execution.created_at));
  const rerun = useStartRun(agent);
  const stop = useStop(execution, onStopped);
  const remove = useRemove(agent, execution);
  const [removing, setRemoving] = useState(false);
  const { stats } = execution;
  const steps = Math.max(stats.node_count, total(nodes, 'runs'));
  const failed = Math.max(stats.node_error_count, total(nodes, 'failed'));
  const cost = Math.max(stats.cost, total(nodes, 'cost'));

  return (
    <header className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <span role="status" className="inline-flex">
          <RunStatus status={execution.status} />
        </span>
        {stats.is_dry_run && <Badge tone="accent">Dry run</Badge>}
        <Badge>Version {execution.graph_version}</Badge>
        <div className="ml-auto flex items-center gap-2">
          {hasEnded ? (
            <Button
              icon={<RotateCcw aria-hidden className="size-4" />}
              busy={rerun.isPending}
              onClick={() =>
                rerun.mutate({
                  inputs: execution.inputs,
                  dryRun: stats.is_dry_run,
                  version: execution.graph_version,
                })
              }
            >
              Run again
            </Button>
          ) : (
            <Button
              kind="danger"
              icon={<CircleStop aria-hidden className="size-4" />}
              busy={stop.isPending || execution.stop_requested}
              onClick={() => stop.mutate()}
            >
              {execution.stop_requested || stop.isPending ? 'Stopping' : 'Stop'}
            </Button>
          )}
          <Menu
            trigger={
              <IconButton label="Actions for this run">
                <MoreHorizontal className="size-5" />
              </IconButton>
            }
          >
            <MenuItem
              icon={<PencilLine className="size-4" />}
              onSelect={() => onChangeInputs(execution.inputs)}
            >
              Edit inputs and run
            </MenuItem>
            <MenuItem
              danger
              disabled={!hasEnded}
              icon={<Trash2 className="size-4" />}
              onSelect={() => setRemoving(true)}
            >
              Delete
            </MenuItem>
          </Menu>
        </div>
      </div>
      <dl className="grid grid-cols-2 gap-3 sm:grid-cols-4">
        <Fact name="Started">{when(execution.started_at ?? execution.created_at)}</Fact>
        <Fact name="Duration">{duration(hasEnded ? stats.duration * 1000 : elapsed)}</Fact>
        <Fact name="Steps">
          {count(steps)}
          {failed > 0 && <span className="text-bad"> · {count(failed)} failed</span>}
        </Fact>
        <Fact name="Cost">{cost === 0 ? 'Free' : `${count(cost)} credits`}</Fact>
      </dl>
      {rerun.error && <StartRunError error={rerun.error} />}
      <Confirm
        title="Delete this run?"
        confirmLabel="Delete"
        open={removing}
        onClose={() => setRemoving(false)}
        onConfirm={() => remove.mutateAsync()}
      >
        This permanently deletes the run and its outputs.
      </Confirm>
    </header>
  );
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div className="rounded-xl border border-line bg-surface px-3 py-2">
      <dt className="text-xs text-muted">{name}</dt>
      <dd className="text-sm font-medium tabular-nums">{children}</dd>
    </div>
  );
}

function useStop(execution: ExecutionMeta, onStopped: () => Promise<unknown>) {
  return useMutation({
    mutationFn: () =>
      dataOf(
        api.POST('/api/graphs/{graph_id}/executions/{execution_id}/stop', {
          params: { path: { graph_id: execution.graph_id, execution_id: execution.id } },
        }),
      ),
    onSuccess: onStopped,
    onError: (error) => showToast(errorMessage(error), 'bad'),
  });
}

function useRemove(agent: Agent, execution: ExecutionMeta) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: () =>
      dataOf(
        api.DELETE('/api/executions/{execution_id}', { params: { path: { execution_id: execution.id } } }),
      ),
    onSuccess: async () => {
      await navigate({
        to: '/library/agents/$id',
        params: { id: agent.id },
        search: { activeTab: 'runs' },
      });
      queries.removeQueries({ queryKey: executionKey(execution.id) });
      await queries.invalidateQueries({ queryKey: ['executions'] });
    },
  });
}
