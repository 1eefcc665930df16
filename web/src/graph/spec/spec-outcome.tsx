// What came of checking, fixing, rehearsing, comparing or saving a spec.

import { CircleCheck, Undo2, Wrench } from 'lucide-react';
import type { ReactNode } from 'react';
import { AgentDiffView } from '@/agents/agent-diff-view';
import { AgentStateBadge, AgentStateHint } from '@/agents/agent-state';
import { ProblemList } from '@/agents/problem-list';
import { asRecord } from '@/lib/json';
import type { AgentDiff, FixBody, GraphProblem, RehearsalReport, ValidationBody } from '@/protocol';
import { Button } from '@/ui/buttons/button';
import { Fold } from '@/ui/page/fold';
import { Failure } from '@/ui/page/states';
import { amount } from '@/ui/text/format';
import { RehearsalReportView } from '../rehearsal/rehearsal-report';
import type { StaleVersion } from '../versions/stale-version';

export type SpecOutcome =
  | { kind: 'checked'; check: ValidationBody }
  | { kind: 'rehearsed'; report: RehearsalReport }
  | { kind: 'compared'; diff: AgentDiff }
  | { kind: 'fixed'; fix: FixBody; before: string }
  /** The server refused the spec because of its errors. */
  | { kind: 'invalid'; title: string; problems: GraphProblem[]; canSaveDraft: boolean }
  /** Another user or tab has saved a version. */
  | { kind: 'stale'; stale: StaleVersion }
  | { kind: 'failed'; title: string; error: unknown };

type Props = {
  outcome: SpecOutcome;
  onChoose: (problem: GraphProblem) => void;
  /** Repairs what has only one repair. */
  onFix: () => void;
  /** Restores the text as it was before the repair. */
  onUndo: (before: string) => void;
  /** Absent if the user may not save. */
  onSaveDraft?: () => void;
  /** How a newer version is shown. */
  stale: (stale: StaleVersion) => ReactNode;
};

const CHOOSE_HINT = 'Go to this step in the spec';

export function SpecOutcomeView({ outcome, onChoose, onFix, onUndo, onSaveDraft, stale }: Props) {
  switch (outcome.kind) {
    case 'checked':
      return <CheckView check={outcome.check} onChoose={onChoose} onFix={onFix} />;
    case 'rehearsed':
      return <RehearsalReportView report={outcome.report} />;
    case 'compared':
      return (
        <div className="flex flex-col gap-3">
          <p className="font-medium">Changes</p>
          <AgentDiffView diff={outcome.diff} />
        </div>
      );
    case 'fixed':
      return <FixView fix={outcome.fix} onChoose={onChoose} onUndo={() => onUndo(outcome.before)} />;
    case 'invalid':
      return (
        <div className="flex flex-col gap-3">
          <p className="font-medium">{outcome.title}</p>
          <FixAll problems={outcome.problems} onFix={onFix} />
          <ProblemList
            problems={outcome.problems}
            kind="error"
            onChoose={onChoose}
            chooseHint={CHOOSE_HINT}
          />
          {outcome.canSaveDraft && onSaveDraft && <SaveDraft onSave={onSaveDraft} />}
        </div>
      );
    case 'stale':
      return stale(outcome.stale);
    case 'failed':
      return <Failure title={outcome.title} error={outcome.error} />;
  }
}

/** For screen readers, which are not told of the rest. The other outcomes are alerts. */
export function summaryOf(outcome: SpecOutcome): string {
  switch (outcome.kind) {
    case 'checked':
      return `Checked: ${amount(outcome.check.errors.length, 'error')}, ${amount(outcome.check.warnings.length, 'warning')}.`;
    case 'rehearsed':
      return 'The rehearsal has ended.';
    case 'compared':
      return 'Changes are shown.';
    case 'fixed':
      return fixedText(outcome.fix);
    case 'invalid':
      return outcome.title;
    default:
      return '';
  }
}

type CheckViewProps = Pick<Props, 'onChoose' | 'onFix'> & { check: ValidationBody };

function CheckView({ check, onChoose, onFix }: CheckViewProps) {
  const { valid, state, errors, warnings } = check;
  const choice = { onChoose, chooseHint: CHOOSE_HINT };
  return (
    <div className="flex flex-col gap-3">
      <p className="flex flex-wrap items-center gap-2">
        <span className="font-medium">{valid ? 'No errors found.' : amount(errors.length, 'error')}</span>
        <AgentStateBadge state={state} />
      </p>
      {valid && <AgentStateHint state={state} />}
      <Needs needs={check.needs} />
      <FixAll problems={[...errors, ...warnings]} onFix={onFix} />
      {errors.length > 0 && <ProblemList problems={errors} kind="error" {...choice} />}
      {warnings.length > 0 && (
        <Fold title={amount(warnings.length, 'warning')} open>
          <ProblemList problems={warnings} kind="warning" {...choice} />
        </Fold>
      )}
    </div>
  );
}

/** Only if something has exactly one repair. */
function FixAll({ problems, onFix }: { problems: readonly GraphProblem[]; onFix: () => void }) {
  const fixable = problems.filter(({ edit }) => edit).length;
  if (fixable === 0) return null;
  return (
    <div>
      <Button size="small" icon={<Wrench aria-hidden className="size-4" />} onClick={onFix}>
        Fix automatically
      </Button>
    </div>
  );
}

type FixViewProps = Pick<Props, 'onChoose'> & { fix: FixBody; onUndo: () => void };

function FixView({ fix, onChoose, onUndo }: FixViewProps) {
  const { fixes, remaining, valid_after_fix } = fix;
  return (
    <div className="flex flex-col gap-3">
      <p className="flex flex-wrap items-center gap-2">
        <span className="font-medium">{fixedText(fix)}</span>
        {fixes.length > 0 && (
          <Button size="small" icon={<Undo2 aria-hidden className="size-4" />} onClick={onUndo}>
            Undo
          </Button>
        )}
      </p>
      {fixes.length > 0 && <ProblemList problems={fixes} kind="fixed" />}
      {valid_after_fix && (
        <p className="flex items-center gap-2">
          <CircleCheck aria-hidden className="size-4 shrink-0 text-good" />
          The agent has no errors now.
        </p>
      )}
      {remaining.length > 0 && (
        <Fold title={`${amount(remaining.length, 'problem')} left`} open>
          <ProblemList
            problems={remaining}
            kind={valid_after_fix ? 'warning' : 'error'}
            onChoose={onChoose}
            chooseHint={CHOOSE_HINT}
          />
        </Fold>
      )}
    </div>
  );
}

function fixedText({ fixes }: FixBody): string {
  return fixes.length === 0
    ? 'There was nothing that could be fixed automatically.'
    : `Fixed ${amount(fixes.length, 'problem')}.`;
}

function SaveDraft({ onSave }: { onSave: () => void }) {
  return (
    <div className="flex flex-col gap-2">
      <p className="text-muted">
        You can save it as a draft and fix it later. A draft can't run, and the active version stays as it is.
      </p>
      <div>
        <Button size="small" onClick={onSave}>
          Save as draft
        </Button>
      </div>
    </div>
  );
}

const NEEDS = { credentials: 'Credentials', blocks: 'Missing blocks', agents: 'Missing agents' } as const;

function Needs({ needs }: Pick<ValidationBody, 'needs'>) {
  const entries = (Object.keys(NEEDS) as (keyof typeof NEEDS)[]).flatMap((kind) => {
    const names = (needs[kind] as readonly unknown[]).map(nameOf).filter(Boolean);
    return names.length > 0 ? [{ kind, names }] : [];
  });
  if (entries.length === 0) return null;
  return (
    <div>
      <p className="font-medium">Needed before it can run</p>
      <ul className="list-disc pl-5">
        {entries.map(({ kind, names }) => (
          <li key={kind} className="break-words">
            {NEEDS[kind]}: {names.join(', ')}
          </li>
        ))}
      </ul>
    </div>
  );
}

function nameOf(need: unknown): string {
  if (typeof need === 'string') return need;
  const { title, name, provider, id } = asRecord(need);
  return String(title ?? name ?? provider ?? id ?? '');
}
