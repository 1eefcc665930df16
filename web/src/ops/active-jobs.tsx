import { Link } from '@tanstack/react-router';
import type { OpsExecution, OpsOverview, OpsTurn } from '@/protocol';
import { Badge } from '@/ui/feedback/badge';
import { duration } from '@/ui/text/format';
import { type Column, JobTable } from './job-table';

type Props = {
  overview: OpsOverview;
  /** Time since the overview was fetched, added to all ages. */
  sinceMs: number;
  /** Whether the job belongs to the current user, who can open it. */
  isMine: (userId: string | null | undefined) => boolean;
};

/** Running and queued turns and executions, with their age. */
export function ActiveJobs({ overview, sinceMs, isMine }: Props) {
  const turns: Column<OpsTurn>[] = [
    {
      title: 'Chat',
      show: ({ session_id, user_id }) =>
        isMine(user_id) ? (
          <Link
            to="/copilot"
            search={{ sessionId: session_id }}
            className="font-mono text-xs text-accent underline underline-offset-2"
          >
            {session_id}
          </Link>
        ) : (
          <code className="text-xs">{session_id}</code>
        ),
    },
    ...shared<OpsTurn>(sinceMs),
    { title: 'Tool', show: ({ tool_name }) => tool_name ?? NONE },
  ];
  const executions: Column<OpsExecution>[] = [
    { title: 'Run', show: ({ execution_id }) => <code className="text-xs">{execution_id}</code> },
    ...shared<OpsExecution>(sinceMs),
    { title: 'Agent', show: ({ graph_id }) => <code className="text-xs">{graph_id}</code> },
  ];
  return (
    <>
      <JobTable
        title="Responses"
        empty="No active responses."
        rows={overview.live_turns}
        keyOf={({ turn_id }) => turn_id}
        columns={turns}
      />
      <JobTable
        title="Agent runs"
        empty="No active runs."
        rows={overview.live_executions}
        keyOf={({ execution_id }) => execution_id}
        columns={executions}
      />
    </>
  );
}

const NONE = <span className="text-muted">–</span>;

type Job = Pick<OpsTurn | OpsExecution, 'status' | 'age_seconds' | 'attempt' | 'worker'>;

function shared<T extends Job>(sinceMs: number): Column<T>[] {
  return [
    { title: 'Status', show: ({ status }) => <JobStatus status={status} /> },
    { title: 'Age', show: ({ age_seconds }) => duration(Math.round(age_seconds + sinceMs / 1000) * 1000) },
    { title: 'Attempt', show: ({ attempt }) => attempt },
    { title: 'Worker', show: ({ worker }) => worker ?? NONE },
  ];
}

function JobStatus({ status }: { status: string }) {
  const label = status.toLowerCase();
  return <Badge tone={label === 'running' ? 'accent' : 'neutral'}>{label}</Badge>;
}
