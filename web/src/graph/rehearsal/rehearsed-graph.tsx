import { useState } from 'react';
import { useExecution } from '@/executions/use-execution';
import type { GraphDetails, RehearsalReport } from '@/protocol';
import { isFinal } from '@/ui/feedback/run-status';
import { Field, Select } from '@/ui/form/field';
import { Failure } from '@/ui/page/states';
import { GraphFigure } from '../graph-figure';
import { describeVariations } from './describe-variations';

type Props = { graph: GraphDetails; graphId: string; report: RehearsalReport };

/** The graph with the steps colored that ran in a run of the rehearsal, and their outputs in their panels. */
export function RehearsedGraph({ graph, graphId, report }: Props) {
  const [shown, setShown] = useState(report.execution_id);
  const { execution, nodes, error, retry } = useExecution(graphId, shown);
  const hasEnded = nodes.size > 0 && execution !== null && isFinal(execution.status);
  const runs = report.runs ?? [];
  return (
    <div className="flex min-w-0 flex-col gap-3">
      {runs.length > 1 && (
        <Field label="Run of the rehearsal">
          {(control) => (
            <Select {...control} value={shown} onChange={(event) => setShown(event.target.value)}>
              {runs.map(({ execution_id, varied }, index) => (
                <option key={execution_id} value={execution_id}>
                  {index === 0 ? 'Run 1, as given' : `Run ${index + 1}, with ${describeVariations(varied)}`}
                </option>
              ))}
            </Select>
          )}
        </Field>
      )}
      {error !== null && error !== undefined && (
        <Failure error={error} title="Couldn't load the steps of the rehearsal" onRetry={retry} />
      )}
      <GraphFigure graph={graph} nodes={nodes} hasEnded={hasEnded} className="h-96" />
    </div>
  );
}
