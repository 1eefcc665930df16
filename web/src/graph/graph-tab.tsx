import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { GraphDetails, GraphProblem } from '@/protocol';
import { GraphFigure } from './graph-figure';
import { checkQuery } from './problems/check-requests';
import { FixButton } from './problems/fix-button';
import { NO_PROBLEMS, problemsOfCheck } from './problems/node-problems';
import { ProblemBar } from './problems/problem-bar';
import { useFix } from './problems/use-fix';

/** The graph of a version, with its problems above it and at their nodes. */
export function GraphTab({ graph, graphId }: { graph: GraphDetails; graphId: string }) {
  const version = graph.version ?? 1;
  const check = useQuery(checkQuery(graphId, version));
  const fix = useFix({ graphId, version, isDraft: check.data?.valid === false });
  const problems = useMemo(() => (check.data ? problemsOfCheck(check.data) : NO_PROBLEMS), [check.data]);
  const [select, setSelect] = useState<{ nodeId: string; version: number } | null>(null);
  const bar = useRef<HTMLElement>(null);
  const fixedVersion = fix.outcome?.kind === 'fixed' ? fix.outcome.version : null;

  // The button that was pressed is gone with the version it was in.
  useEffect(() => {
    if (fixedVersion === version) bar.current?.focus({ preventScroll: true });
  }, [fixedVersion, version]);

  const actionOf = (problem: GraphProblem) => <FixButton problem={problem} fix={fix} />;
  return (
    <div className="flex h-full min-h-0 flex-col">
      <ProblemBar
        ref={bar}
        graphId={graphId}
        version={version}
        check={check.data}
        error={check.error}
        onRetry={() => void check.refetch()}
        fix={fix}
        onChoose={({ node_id }) => node_id && setSelect({ nodeId: node_id, version })}
        actionOf={actionOf}
      />
      <div className="min-h-0 flex-1">
        <GraphFigure
          graph={graph}
          problems={problems}
          actionOf={actionOf}
          // A node that was chosen in another version is not selected again.
          select={select?.version === version ? select : null}
          fullPage
          className="min-h-0 flex-1"
        />
      </div>
    </div>
  );
}
