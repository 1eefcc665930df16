import { Link } from '@tanstack/react-router';
import type { OpsExecution, OpsOverview, OpsTurn } from '@/protocol';
import { Badge } from '@/ui/badge';
import { duration } from '@/ui/format';
import { type Column, LiveList } from './live-list';

type Props = {
  overview: OpsOverview;
  /** How much older everything is than the overview says. */
  sinceMs: number;
  /** Whether what this user has made can be opened by whoever looks. */
  isMine: (userId: string | null | undefined) => boolean;
};

/** The turns and runs that are at work or wait, each with its age. */
export function LiveWork({ overview, sinceMs, isMine }: Props) {
  const turns: Column<OpsTurn>[] = [
    {
      title: 'Session',
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
    { title: 'Tool', show: ({ tool_name }) => tool_name ?? NOTHING },
  ];
  const executions: Column<OpsExecution>[] = [
    { title: 'Run', show: ({ execution_id }) => <code className="text-xs">{execution_id}</code> },
    ...shared<OpsExecution>(sinceMs),
    { title: 'Agent', show: ({ graph_id }) => <code className="text-xs">{graph_id}</code> },
  ];
  return (
    <>
      <LiveList
        title="Turns"
        empty="No turn is at work."
        rows={overview.live_turns}
        keyOf={({ turn_id }) => turn_id}
        columns={turns}
      />
      <LiveList
        title="Runs of agents"
        empty="No agent runs."
        rows={overview.live_executions}
        keyOf={({ execution_id }) => execution_id}
        columns={executions}
      />
    </>
  );
}

const NOTHING = <span className="text-muted">–</span>;

type Work = Pick<OpsTurn | OpsExecution, 'status' | 'age_seconds' | 'attempt' | 'worker'>;

function shared<T extends Work>(sinceMs: number): Column<T>[] {
  return [
    { title: 'State', show: ({ status }) => <WorkState status={status} /> },
    { title: 'Age', show: ({ age_seconds }) => duration(Math.round(age_seconds + sinceMs / 1000) * 1000) },
    { title: 'Attempt', show: ({ attempt }) => attempt },
    { title: 'Worker', show: ({ worker }) => worker ?? NOTHING },
  ];
}

function WorkState({ status }: { status: string }) {
  const word = status.toLowerCase();
  return <Badge tone={word === 'running' ? 'accent' : 'neutral'}>{word}</Badge>;
}
