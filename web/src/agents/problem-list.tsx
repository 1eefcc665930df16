import { CircleAlert, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import type { GraphProblem } from '@/protocol';
import { classes } from '@/ui/classes';
import { More } from '@/ui/page/more';

/** Problems beyond this number are counted, not shown. */
const MAX_PROBLEMS = 20;

const KINDS = {
  error: { Icon: CircleAlert, color: 'text-bad', label: 'Error' },
  warning: { Icon: TriangleAlert, color: 'text-warn', label: 'Warning' },
  fixed: { Icon: null, color: '', label: '' },
} as const;

type Props = {
  problems: readonly GraphProblem[];
  kind: keyof typeof KINDS;
  /** How many there are, if the list has only the first of them. */
  total?: number;
  /** Makes each problem that has a place a button that leads there. */
  onChoose?: (problem: GraphProblem) => void;
  /** The tooltip of these buttons. */
  chooseHint?: string;
  /** Shown below a problem: a button that fixes it. */
  actionOf?: (problem: GraphProblem) => ReactNode;
};

/** Problems of an agent, grouped by the step they are in. */
export function ProblemList({ problems, kind, total = problems.length, ...choice }: Props) {
  const shown = problems.slice(0, MAX_PROBLEMS);
  return (
    <div className="flex flex-col gap-3">
      <ul className="flex flex-col gap-3">
        {[...byStep(shown)].map(([step, ofStep]) => (
          <li key={step} className="flex flex-col gap-1.5">
            <p className="text-xs font-medium break-words text-muted">{step || 'The whole agent'}</p>
            <ul className="flex flex-col divide-y divide-line rounded-lg border border-line">
              {ofStep.map((problem, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the order never changes, and two may be identical.
                <li key={index} className="flex min-w-0 gap-2 px-3 py-2.5">
                  <Problem problem={problem} kind={kind} {...choice} />
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
      <More number={total - shown.length} />
    </div>
  );
}

type ProblemProps = Omit<Props, 'problems' | 'total'> & { problem: GraphProblem };

function Problem({ problem, kind, onChoose, chooseHint, actionOf }: ProblemProps) {
  const { code, path, message, expected, got } = problem;
  const { Icon, color, label } = KINDS[kind];
  return (
    <>
      {Icon && <Icon aria-hidden className={classes('mt-0.5 size-4 shrink-0', color)} />}
      <div className="flex min-w-0 flex-1 flex-col gap-1">
        {onChoose ? (
          <button
            type="button"
            title={chooseHint}
            onClick={() => onChoose(problem)}
            className="w-fit max-w-full rounded text-left break-words underline-offset-2 hover:underline pointer-coarse:min-h-10"
          >
            {label && <span className="sr-only">{label}: </span>}
            {message}
          </button>
        ) : (
          <p className="break-words">
            {label && <span className="sr-only">{label}: </span>}
            {message}
          </p>
        )}
        {(expected || got) && (
          <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-2 text-xs">
            <Fact name="Expected" value={expected} />
            <Fact name="Got" value={got} />
          </dl>
        )}
        <p className="flex flex-wrap gap-x-2 font-mono text-xs text-muted">
          <span className="break-all">{code}</span>
          {path && <span className="break-all">{path}</span>}
        </p>
        {actionOf?.(problem)}
      </div>
    </>
  );
}

function Fact({ name, value }: { name: string; value?: string | null }) {
  if (!value) return null;
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd className="line-clamp-4 break-words">{value}</dd>
    </>
  );
}

/** In the order in which the steps first appear. The problems of the whole agent are under the empty name. */
function byStep(problems: readonly GraphProblem[]): Map<string, GraphProblem[]> {
  const steps = new Map<string, GraphProblem[]>();
  for (const problem of problems) {
    const step = problem.step ?? '';
    steps.set(step, [...(steps.get(step) ?? []), problem]);
  }
  return steps;
}
