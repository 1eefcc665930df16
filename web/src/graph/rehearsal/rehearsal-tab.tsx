import { useId, useState } from 'react';
import { inputErrors } from '@/agents/input-errors';
import { ProblemList } from '@/agents/problem-list';
import type { GraphDetails, RehearsalReport } from '@/protocol';
import { Switch } from '@/ui/form/switch';
import { Panel } from '@/ui/page/page';
import { Failure } from '@/ui/page/states';
import { SchemaForm, type Values } from '@/ui/schema-form/schema-form';
import { problemsInError } from '../problems/problems-in-error';
import { RecordingSelect } from './recording-select';
import { RehearsalReportView } from './rehearsal-report';
import { optionalInputs, rehearse } from './rehearse-request';
import { RehearsedGraph } from './rehearsed-graph';

type Outcome = { report: RehearsalReport } | { error: unknown };

/** Tab that runs a version of an agent without touching anything outside the server. */
export function RehearsalTab({ graph, graphId }: { graph: GraphDetails; graphId: string }) {
  const [failEach, setFailEach] = useState(false);
  const [recording, setRecording] = useState<string | null>(null);
  const [running, setRunning] = useState(false);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const switchId = useId();
  const fieldErrors = outcome && 'error' in outcome ? inputErrors(outcome.error) : null;

  async function start(inputs: Values) {
    setRunning(true);
    setOutcome(null);
    try {
      const version = graph.version ?? 1;
      const report = await rehearse({
        graph_id: graphId,
        graph_version: version,
        inputs,
        fail_each: failEach,
        ...(recording && { recording }),
      });
      setOutcome({ report });
    } catch (error) {
      setOutcome({ error });
    } finally {
      setRunning(false);
    }
  }

  return (
    <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-6 p-4 lg:grid-cols-[22rem_minmax(0,1fr)]">
      <Panel title="Inputs">
        <p className="mb-4 text-sm text-muted">
          The agent runs, but nothing is sent, changed or charged. Inputs that you leave empty are made up.
        </p>
        <div className="mb-5 empty:hidden">
          <RecordingSelect graphId={graphId} value={recording} onChange={setRecording} disabled={running} />
        </div>
        <SchemaForm
          schema={optionalInputs(graph.input_schema)}
          submitLabel="Rehearse"
          busy={running}
          errors={fieldErrors ?? undefined}
          onSubmit={(inputs) => void start(inputs)}
        >
          <span className="flex min-h-10 items-center gap-2">
            <Switch
              id={switchId}
              checked={failEach}
              disabled={running}
              aria-describedby={`${switchId}-note`}
              onChange={(event) => setFailEach(event.target.checked)}
            />
            <label htmlFor={switchId} className="text-sm">
              Rehearse failures
              <span id={`${switchId}-note`} className="block text-xs text-muted">
                Also lets each outside step fail once.
              </span>
            </label>
          </span>
        </SchemaForm>
      </Panel>
      <section aria-label="Rehearsal results" className="flex min-w-0 flex-col gap-4 text-sm">
        <div role="status">
          {running && 'Rehearsing… This can take a minute.'}
          {!running && !outcome && (
            <p className="text-muted">
              A rehearsal shows which steps run, which branches they take and what comes out.
            </p>
          )}
          {outcome && 'report' in outcome && <span className="sr-only">The rehearsal has ended.</span>}
        </div>
        {outcome && 'report' in outcome && (
          <>
            <RehearsedGraph
              key={outcome.report.execution_id}
              graph={graph}
              graphId={graphId}
              report={outcome.report}
            />
            <RehearsalReportView report={outcome.report} />
          </>
        )}
        {outcome && 'error' in outcome && !fieldErrors && <RehearsalError error={outcome.error} />}
      </section>
    </div>
  );
}

function RehearsalError({ error }: { error: unknown }) {
  const problems = problemsInError(error);
  if (!problems) return <Failure error={error} title="Couldn't rehearse" />;
  return (
    <div role="alert" className="flex flex-col gap-3">
      <p className="font-medium">The agent can't be rehearsed until its errors are fixed.</p>
      <ProblemList problems={problems} kind="error" />
    </div>
  );
}
