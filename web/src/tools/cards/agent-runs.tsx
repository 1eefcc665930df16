// Cards of agent runs: progress, errors and outputs.

import type { ExecutionStatus, NodeFailure } from '@/protocol';
import { ReviewOfExecution } from '@/reviews/review-of-execution';
import { isFinal, RunStatus } from '@/ui/feedback/run-status';
import { Fold } from '@/ui/page/fold';
import { Failure } from '@/ui/page/states';
import { duration, when } from '@/ui/text/format';
import { blockName } from '@/ui/text/names';
import { useElapsed } from '@/ui/text/use-elapsed';
import { Outputs } from '@/ui/values/values';
import type { CallContext, CallStatus, CardKinds, CardProps } from '../types';
import { FailedNodes } from './failed-nodes';
import { OpenRun, RunLink } from './links';
import { Facts, Row, Rows } from './parts';
import { useRun } from './use-run';

function ExecutionStartedCard({ response }: CardProps<'execution_started'>) {
  const { execution_id, graph_id, graph_name, library_agent_id, status } = response;
  const run = useRun(execution_id, status);
  const now = run.data?.status ?? status;
  const done = isFinal(now);
  return (
    <>
      <RunHead name={graph_name} status={now} />
      {run.data && <RunTimes startedAt={run.data.started_at} endedAt={run.data.ended_at} running={!done} />}
      {now === 'REVIEW' && <ReviewOfExecution executionId={execution_id} />}
      {run.data?.error && <ErrorText text={run.data.error.message} />}
      {run.data && <FailedNodes nodes={run.data.failed_nodes} />}
      {run.data && (done || Object.keys(run.data.outputs).length > 0) && (
        <Outputs outputs={run.data.outputs} />
      )}
      {run.isError && !run.data && (
        <Failure error={run.error} title="Couldn't load the run" onRetry={() => void run.refetch()} />
      )}
      <OpenRun
        agentId={library_agent_id}
        executionId={execution_id}
        graphId={graph_id}
        graphVersion={run.data?.graph_version}
      />
    </>
  );
}

function AgentOutputCard({ response }: CardProps<'agent_output'>) {
  const { agent_name, agent_id, library_agent_id, execution, available_executions = [] } = response;
  const run = useRun(execution.execution_id, execution.status);
  const status = run.data?.status ?? execution.status;
  const done = isFinal(status);
  const outputs = run.data?.outputs ?? execution.outputs;
  const failed: readonly NodeFailure[] = run.data?.failed_nodes ?? execution.nodes_failed ?? [];
  const others = available_executions.filter(({ id }) => id !== execution.execution_id);
  return (
    <>
      <RunHead name={agent_name} status={status} />
      <RunTimes
        startedAt={run.data?.started_at ?? execution.started_at}
        endedAt={run.data?.ended_at ?? execution.ended_at}
        running={!done}
      />
      {status === 'REVIEW' && <ReviewOfExecution executionId={execution.execution_id} />}
      {run.data?.error ? <ErrorText text={run.data.error.message} /> : <EndMessage response={response} />}
      <FailedNodes nodes={failed} />
      {(done || Object.keys(outputs ?? {}).length > 0) && <Outputs outputs={outputs} />}
      {execution.inputs_summary && Object.keys(execution.inputs_summary).length > 0 && (
        <Fold title="Inputs">
          <Outputs outputs={execution.inputs_summary} />
        </Fold>
      )}
      {execution.node_executions && execution.node_executions.length > 0 && (
        <Fold title={`Steps (${execution.node_executions.length})`}>
          <Rows>
            {execution.node_executions.map((node) => (
              <Row key={node.node_exec_id} className="flex flex-wrap items-center gap-2">
                <span className="min-w-0 flex-1 break-words">{blockName(node.block_name)}</span>
                <RunStatus status={node.status} />
                {node.error && <p className="w-full break-words text-bad">{node.error}</p>}
              </Row>
            ))}
          </Rows>
        </Fold>
      )}
      {others.length > 0 && (
        <Fold title={`Other runs (${response.total_executions - 1})`}>
          <Rows>
            {others.map(({ id, status, started_at }) => (
              <Row key={id} className="flex flex-wrap items-center gap-2">
                <span className="min-w-0 flex-1">
                  <RunLink agentId={library_agent_id} executionId={id}>
                    {started_at ? when(started_at) : id}
                  </RunLink>
                </span>
                <RunStatus status={status} />
              </Row>
            ))}
          </Rows>
        </Fold>
      )}
      <OpenRun
        agentId={library_agent_id}
        executionId={execution.execution_id}
        graphId={agent_id}
        graphVersion={run.data?.graph_version}
      />
    </>
  );
}

function RunHead({ name, status }: { name: string; status: ExecutionStatus }) {
  return (
    <div role="status" className="flex flex-wrap items-center gap-2">
      <span className="min-w-0 font-medium break-words">{name}</span>
      <RunStatus status={status} />
    </div>
  );
}

type RunTimesProps = { startedAt?: string | null; endedAt?: string | null; running: boolean };

function RunTimes({ startedAt, endedAt, running }: RunTimesProps) {
  const start = startedAt ? Date.parse(startedAt) : Number.NaN;
  const elapsed = useElapsed(running && startedAt !== null, start);
  if (Number.isNaN(start) || !startedAt) return null;
  const took = endedAt ? Math.max(0, Date.parse(endedAt) - start) : elapsed;
  return <Facts facts={[when(startedAt), duration(took)]} />;
}

/** The server's message about the end of a run: its error, or that it was a dry run. */
function EndMessage({
  response: { message, agent_name, execution },
}: Pick<CardProps<'agent_output'>, 'response'>) {
  // The message of an unfinished run is meant for the model, and the run may have ended since.
  if (!isFinal(execution.status) || !message || repeatsStatus(message, agent_name)) return null;
  if (execution.status === 'FAILED') return <ErrorText text={message} />;
  return <p className="break-words whitespace-pre-wrap text-muted">{message}</p>;
}

function ErrorText({ text }: { text: string }) {
  return <p className="break-words whitespace-pre-wrap text-bad">{text}</p>;
}

/**
 * Whether the message only repeats the status badge. Stored histories have earlier wordings of the server, too.
 * A wording that is missing here is shown next to the badge.
 */
function repeatsStatus(message: string, name: string): boolean {
  return [
    `${name} completed.`,
    `${name} has completed.`,
    `${name} failed.`,
    `${name} has failed.`,
    `${name} was stopped before it finished.`,
    `The run of ${name} was stopped before it had ended.`,
  ].includes(message);
}

const STATUS_VERBS: Record<ExecutionStatus, string> = {
  INCOMPLETE: 'Prepared',
  QUEUED: 'Queued',
  RUNNING: 'Running',
  REVIEW: 'Needs your approval:',
  COMPLETED: 'Ran',
  FAILED: 'Failed:',
  TERMINATED: 'Stopped',
};

/** Status of the call. A run continues after its turn has ended, but its call is done by then. */
function callStatus(status: ExecutionStatus, { live, current }: CallContext): CallStatus {
  if (status === 'FAILED') return 'failed';
  if (status === 'TERMINATED') return 'stopped';
  if (status === 'REVIEW') return current ? 'waiting' : 'done';
  return isFinal(status) || !live ? 'done' : 'background';
}

export const agentRuns: CardKinds<'execution_started' | 'agent_output'> = {
  execution_started: {
    Card: ExecutionStartedCard,
    opens: true,
    phrase: ({ graph_name }) => `Started ${graph_name}`,
    status: ({ status }, context) => callStatus(status, context),
  },
  agent_output: {
    Card: AgentOutputCard,
    opens: true,
    phrase: ({ agent_name, execution }) => `${STATUS_VERBS[execution.status]} ${agent_name}`,
    status: ({ execution }, context) => callStatus(execution.status, context),
  },
};
