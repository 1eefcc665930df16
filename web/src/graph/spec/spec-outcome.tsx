// What came of checking, rehearsing or saving a spec.

import { AgentStateBadge, AgentStateHint } from '@/agents/agent-state';
import { ProblemList } from '@/agents/problem-list';
import { asRecord } from '@/lib/json';
import type { GraphProblem, RehearsalReport, ValidationBody } from '@/protocol';
import { Button } from '@/ui/buttons/button';
import { CopyButton } from '@/ui/buttons/copy-button';
import { Fold } from '@/ui/page/fold';
import { Failure } from '@/ui/page/states';
import { amount } from '@/ui/text/format';
import { RehearsalReportView } from './rehearsal-report';

export type SpecOutcome =
  | { kind: 'checked'; check: ValidationBody }
  | { kind: 'rehearsed'; report: RehearsalReport }
  /** The server refused the spec because of its errors. */
  | { kind: 'invalid'; title: string; problems: GraphProblem[] }
  /** Another user or tab has saved a version. */
  | { kind: 'stale'; newest: number | null }
  | { kind: 'failed'; title: string; error: unknown };

type Props = {
  outcome: SpecOutcome;
  text: string;
  onChoose: (problem: GraphProblem) => void;
  onReload: (newest: number | null) => void;
};

export function SpecOutcomeView({ outcome, text, onChoose, onReload }: Props) {
  switch (outcome.kind) {
    case 'checked':
      return <CheckView check={outcome.check} onChoose={onChoose} />;
    case 'rehearsed':
      return <RehearsalReportView report={outcome.report} />;
    case 'invalid':
      return (
        <div className="flex flex-col gap-3">
          <p className="font-medium">{outcome.title}</p>
          <ProblemList problems={outcome.problems} kind="error" onChoose={onChoose} />
        </div>
      );
    case 'stale':
      return <StaleView newest={outcome.newest} text={text} onReload={onReload} />;
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
    case 'invalid':
      return outcome.title;
    default:
      return '';
  }
}

function CheckView({ check, onChoose }: { check: ValidationBody; onChoose: Props['onChoose'] }) {
  const { valid, state, errors, warnings } = check;
  return (
    <div className="flex flex-col gap-3">
      <p className="flex flex-wrap items-center gap-2">
        <span className="font-medium">{valid ? 'No errors found.' : amount(errors.length, 'error')}</span>
        <AgentStateBadge state={state} />
      </p>
      {valid && <AgentStateHint state={state} />}
      <Needs needs={check.needs} />
      {errors.length > 0 && <ProblemList problems={errors} kind="error" onChoose={onChoose} />}
      {warnings.length > 0 && (
        <Fold title={amount(warnings.length, 'warning')} open>
          <ProblemList problems={warnings} kind="warning" onChoose={onChoose} />
        </Fold>
      )}
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

function StaleView({ newest, text, onReload }: Pick<Props, 'text' | 'onReload'> & { newest: number | null }) {
  return (
    <div
      role="alert"
      className="flex flex-col gap-3 rounded-xl border border-warn/30 bg-warn-soft px-4 py-3 text-sm"
    >
      <p>
        <span className="font-medium">This agent was changed while you edited it.</span>{' '}
        {newest !== null && `Its newest version is ${newest}. `}
        Your text was not saved. Copy it if you need it, then load the newest version and make your changes
        there.
      </p>
      <div className="flex flex-wrap items-center gap-2">
        <Button size="small" onClick={() => onReload(newest)}>
          Discard my text and reload
        </Button>
        <CopyButton text={text} label="Copy my text" />
      </div>
    </div>
  );
}
