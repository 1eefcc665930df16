import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, type Ref, useId } from 'react';
import { AgentDiffView } from '@/agents/agent-diff-view';
import { AgentStateBadge, AgentStateHint } from '@/agents/agent-state';
import { ProblemList } from '@/agents/problem-list';
import type { GraphProblem, ValidationBody } from '@/protocol';
import { buttonClasses } from '@/ui/buttons/button';
import { Fold } from '@/ui/page/fold';
import { Failure } from '@/ui/page/states';
import { amount } from '@/ui/text/format';
import { linkToTab } from '../build-tabs';
import { versionsQuery } from '../versions/version-requests';
import { wholeAgentFirst } from './node-problems';
import type { Fix, FixOutcome } from './use-fix';

type Props = {
  ref?: Ref<HTMLElement>;
  graphId: string;
  version: number;
  check: ValidationBody | undefined;
  error: unknown;
  onRetry: () => void;
  fix: Fix;
  onChoose: (problem: GraphProblem) => void;
  actionOf: (problem: GraphProblem) => ReactNode;
};

/** Above the graph: how far the agent is checked, and all of its problems. */
export function ProblemBar({ ref, graphId, version, check, error, onRetry, fix, ...list }: Props) {
  const titleId = useId();
  if (!check && error) {
    return (
      <div className="p-3">
        <Failure error={error} title="Couldn't check the agent" onRetry={onRetry} />
      </div>
    );
  }
  return (
    <section
      ref={ref}
      tabIndex={-1}
      aria-labelledby={titleId}
      className="flex max-h-[45%] shrink-0 flex-col gap-2 overflow-y-auto border-b border-line bg-surface px-4 py-2 text-sm outline-none"
    >
      <p id={titleId} className="flex min-h-7 flex-wrap items-center gap-2">
        <span className="font-medium">{check ? summaryOf(check) : 'Checking…'}</span>
        {check && <AgentStateBadge state={check.state} />}
      </p>
      {fix.outcome && <FixOutcomeView graphId={graphId} outcome={fix.outcome} />}
      {check && <CheckedProblems key={version} check={check} {...list} />}
      {check && !fix.canFix && <WhyNoFix graphId={graphId} check={check} />}
    </section>
  );
}

function CheckedProblems({
  check,
  onChoose,
  actionOf,
}: Pick<Props, 'onChoose' | 'actionOf'> & { check: ValidationBody }) {
  const { errors, warnings, state } = check;
  if (errors.length === 0 && warnings.length === 0) return null;
  const choice = { onChoose, actionOf, chooseHint: 'Show this step in the graph' };
  return (
    <Fold title="Show problems" open={errors.length > 0}>
      <div className="flex flex-col gap-3 pb-1">
        <AgentStateHint state={state} />
        {errors.length > 0 && <ProblemList problems={wholeAgentFirst(errors)} kind="error" {...choice} />}
        {warnings.length > 0 && (
          <ProblemList problems={wholeAgentFirst(warnings)} kind="warning" {...choice} />
        )}
      </div>
    </Fold>
  );
}

/** A version that is not the newest one cannot be edited. */
function WhyNoFix({ graphId, check: { errors, warnings } }: { graphId: string; check: ValidationBody }) {
  const { data: versions } = useQuery(versionsQuery(graphId));
  if (!versions || ![...errors, ...warnings].some(({ edit }) => edit)) return null;
  return (
    <p className="text-muted">
      To fix this version, restore it first: only the newest version can be changed.
    </p>
  );
}

function FixOutcomeView({ graphId, outcome }: { graphId: string; outcome: FixOutcome }) {
  switch (outcome.kind) {
    case 'fixed':
      return (
        <Fold title={`What the fix changed in version ${outcome.version}`}>
          <AgentDiffView diff={outcome.diff} />
        </Fold>
      );
    case 'failed':
      return <Failure error={outcome.error} title="Couldn't apply the fix" />;
    case 'stale':
      return (
        <div
          role="alert"
          className="flex flex-col gap-2 rounded-xl border border-warn/30 bg-warn-soft px-4 py-3"
        >
          <p>
            <span className="font-medium">This agent was changed meanwhile, so the fix was not applied.</span>{' '}
            {outcome.stale.newest !== null && `Its newest version is ${outcome.stale.newest}.`}
          </p>
          {outcome.stale.diff && <AgentDiffView diff={outcome.stale.diff} />}
          <div>
            <Link
              {...linkToTab(graphId, outcome.stale.newest ?? undefined, 'graph')}
              className={buttonClasses('secondary', 'small')}
            >
              Show the newest version
            </Link>
          </div>
        </div>
      );
  }
}

function summaryOf({ errors, warnings }: ValidationBody): string {
  if (errors.length === 0 && warnings.length === 0) return 'No errors found.';
  return [
    errors.length > 0 ? amount(errors.length, 'error') : 'No errors',
    warnings.length > 0 && amount(warnings.length, 'warning'),
  ]
    .filter(Boolean)
    .join(', ');
}
