import { CircleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { AgentStateBadge, AgentStateHint } from '@/agents/agent-state';
import type { AnsweredBy, RehearsalReport, RehearsedFailure } from '@/protocol';
import { Fold } from '@/ui/page/fold';
import { More } from '@/ui/page/more';
import { count } from '@/ui/text/format';
import { Outputs } from '@/ui/values/values';
import { describeVariations } from './describe-variations';

/** Entries of a list beyond this number are counted, not shown. */
const MAX_ENTRIES = 30;

const ANSWERED_BY: Record<AnsweredBy, string> = {
  pinned: 'answered with pinned data',
  recording: 'answered with data of an earlier run',
  model: 'answered by the model',
  sample: 'answered with sample data',
  decision: 'decided by the rehearsal',
};

/** What a rehearsal has shown: how ready the agent is, what ran, and what came out. */
export function RehearsalReportView({ report }: { report: RehearsalReport }) {
  const { state, nodes_fired, not_fired, branches, outputs, unfilled, failed, answered, made_inputs } =
    report;
  const moreRuns = report.runs?.slice(1) ?? [];
  const branchNames = (isTaken: boolean) =>
    branches.filter(({ taken }) => taken === isTaken).map(({ step, pin }) => `${step}.${pin}`);
  const [taken, notTaken] = [branchNames(true), branchNames(false)];
  return (
    <div className="flex flex-col gap-4">
      <p className="flex flex-wrap items-center gap-2">
        <span className="font-medium">Rehearsal</span>
        <AgentStateBadge state={state} />
      </p>
      <AgentStateHint state={state} />
      {failed.length > 0 && (
        <Entries
          title="Steps that failed"
          entries={failed.map(({ step, error }) => (
            <span key={step} className="flex min-w-0 gap-2">
              <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
              <span className="min-w-0 break-words">
                <span className="font-mono">{step}</span>: {error}
              </span>
            </span>
          ))}
        />
      )}
      <Part title="Outputs">
        <Outputs outputs={outputs} />
      </Part>
      {unfilled.length > 0 && <Names title="Outputs without a value" names={unfilled} />}
      {notTaken.length > 0 && <Names title="Branches not taken" names={notTaken} />}
      {answered.length > 0 && (
        <Entries
          title="Steps that did not really run"
          entries={answered.map(({ step, by }) => (
            <span key={step} className="break-words">
              <span className="font-mono">{step}</span>: {ANSWERED_BY[by] ?? by}
            </span>
          ))}
        />
      )}
      {moreRuns.length > 0 && (
        <Entries
          title="Further runs, to reach the rest"
          entries={moreRuns.map(({ execution_id, varied, filled }) => (
            <span key={execution_id} className="break-words">
              With <span className="font-mono">{describeVariations(varied)}</span>:{' '}
              {filled.length > 0 ? `fills ${filled.join(', ')}` : 'no other output is filled'}
            </span>
          ))}
        />
      )}
      {(report.failures ?? []).length > 0 && (
        <Entries
          title="When a step fails"
          entries={(report.failures ?? []).map((failure) => (
            <FailureText key={failure.step} failure={failure} />
          ))}
        />
      )}
      {not_fired.length > 0 && <Names title="Steps that were not reached" names={not_fired} />}
      <Fold title={`Steps that ran (${count(nodes_fired.length)})`}>
        <NameList names={nodes_fired} />
      </Fold>
      {taken.length > 0 && (
        <Fold title={`Branches taken (${count(taken.length)})`}>
          <NameList names={taken} />
        </Fold>
      )}
      {Object.keys(made_inputs).length > 0 && (
        <Fold title="Made-up inputs">
          <Outputs outputs={made_inputs} />
        </Fold>
      )}
    </div>
  );
}

/** What follows from the failure of one step. */
function FailureText({ failure: { step, unfilled, failed } }: { failure: RehearsedFailure }) {
  return (
    <span className="break-words">
      <span className="font-mono">{step}</span>:{' '}
      {unfilled.length === 0 ? 'every output still gets a value' : `no value for ${unfilled.join(', ')}`}
      {failed.length > 0 && `; ${failed.map((one) => one.step).join(', ')} also failed`}
    </span>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="flex flex-col gap-1.5">
      <p className="font-medium">{title}</p>
      {children}
    </div>
  );
}

function Entries({ title, entries }: { title: string; entries: ReactNode[] }) {
  return (
    <Part title={title}>
      <ul className="flex flex-col gap-1">
        {entries.slice(0, MAX_ENTRIES).map((entry, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the order never changes, and two may be identical.
          <li key={index}>{entry}</li>
        ))}
      </ul>
      <More number={entries.length - MAX_ENTRIES} />
    </Part>
  );
}

function Names({ title, names }: { title: string; names: string[] }) {
  return (
    <Part title={title}>
      <NameList names={names} />
    </Part>
  );
}

function NameList({ names }: { names: string[] }) {
  if (names.length === 0) return <p className="text-muted">None</p>;
  return (
    <>
      <ul className="flex flex-wrap gap-1.5">
        {names.slice(0, MAX_ENTRIES).map((name) => (
          <li key={name} className="max-w-full rounded bg-sunken px-1.5 py-0.5 font-mono text-xs break-all">
            {name}
          </li>
        ))}
      </ul>
      <More number={names.length - MAX_ENTRIES} />
    </>
  );
}
