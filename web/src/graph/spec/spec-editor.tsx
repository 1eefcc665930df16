import { FlaskConical, GitCompareArrows, Save, SearchCheck } from 'lucide-react';
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import type { GraphProblem } from '@/protocol';
import { Button } from '@/ui/buttons/button';
import { showToast } from '@/ui/feedback/toast';
import { TextArea } from '@/ui/form/field';
import { problemsInError } from '../problems/problems-in-error';
import { rehearse } from '../rehearsal/rehearse-request';
import { staleVersionOf } from '../versions/stale-version';
import { lineOfProblem, rangeOfLine } from './spec-lines';
import { type SpecOutcome, SpecOutcomeView, summaryOf } from './spec-outcome';
import { checkSpec, compareSpec, fixSpec, type SaveOptions, type SpecDocument } from './spec-requests';
import { StaleSpec } from './stale-spec';

type Action = 'check' | 'rehearse' | 'compare' | 'fix' | 'save';

const ACTIONS: Record<Action, { running: string; invalid: string; failed: string }> = {
  check: { running: 'Checking…', invalid: 'The spec has errors.', failed: "Couldn't check the spec" },
  rehearse: {
    running: 'Rehearsing… This can take a minute.',
    invalid: "The agent can't be rehearsed until its errors are fixed.",
    failed: "Couldn't rehearse",
  },
  compare: {
    running: 'Comparing…',
    invalid: 'The changes are shown once these errors are fixed.',
    failed: "Couldn't compare",
  },
  fix: {
    running: 'Fixing…',
    invalid: "These errors can't be fixed automatically.",
    failed: "Couldn't fix the spec",
  },
  save: { running: 'Saving…', invalid: 'Not saved: the agent has errors.', failed: "Couldn't save" },
};

type Props = {
  /** Null for an agent that is not stored yet. */
  graphId: string | null;
  loaded: SpecDocument;
  text: string;
  onChange: (text: string) => void;
  onSave: (text: string, options: SaveOptions) => Promise<void>;
  /** Continues with a text on top of a newer version. */
  onRebase?: (loaded: SpecDocument, text: string) => void;
  /** Discards the text and loads the newest version. */
  onReload?: (newest: number | null) => void;
};

/** The spec as text, with buttons to check, rehearse, compare and save it, and the outcome of the last of them. */
export function SpecEditor({ graphId, loaded, text, onChange, onSave, onRebase, onReload }: Props) {
  const area = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  const [running, setRunning] = useState<Action | null>(null);
  const [last, setLast] = useState<{ outcome: SpecOutcome; text: string } | null>(null);
  const { base, version } = loaded;
  const isChanged = text !== loaded.spec;

  /** Runs one action at a time. `work` returns null if there is nothing to show. */
  async function run(action: Action, work: () => Promise<SpecOutcome | null>) {
    setRunning(action);
    try {
      const outcome = await work();
      setLast(outcome && { outcome, text: outcome.kind === 'fixed' ? outcome.fix.spec : text });
    } catch (error) {
      setLast({ outcome: outcomeOf(action, error), text });
    } finally {
      setRunning(null);
    }
  }

  const compare = (stored: string) =>
    run('compare', async () => ({ kind: 'compared', diff: await compareSpec(stored, version, text) }));

  const save = (options: SaveOptions) =>
    run('save', async () => {
      await onSave(text, options);
      return null;
    });

  const fix = () =>
    run('fix', async () => {
      const fixed = await fixSpec(text);
      if (fixed.fixes.length > 0) onChange(fixed.spec);
      return { kind: 'fixed', fix: fixed, before: text };
    });

  // Unsaved text of an earlier visit, or a proposal: shows at once what it changes.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when the editor is opened.
  useEffect(() => {
    if (graphId && isChanged) void compare(graphId);
  }, []);

  function choose(problem: GraphProblem) {
    const line = lineOfProblem(text, problem);
    if (line === null) showToast("This step isn't in the text anymore.");
    else if (area.current) selectLine(area.current, line);
  }

  function discard() {
    onChange(loaded.spec);
    setLast(null);
    area.current?.focus();
  }

  return (
    <div className="flex flex-col gap-4 p-4 lg:h-full lg:min-h-0 lg:flex-row">
      <div className="flex min-w-0 flex-col gap-2 lg:min-h-0 lg:flex-1">
        <label htmlFor={id} className="text-sm font-medium">
          Agent spec
        </label>
        <TextArea
          ref={area}
          id={id}
          aria-describedby={`${id}-note`}
          value={text}
          onChange={(event) => onChange(event.target.value)}
          readOnly={running === 'save' || running === 'fix'}
          placeholder={graphId ? undefined : EXAMPLE}
          wrap="off"
          spellCheck={false}
          autoCapitalize="off"
          autoCorrect="off"
          className="min-h-[50dvh] flex-1 resize-none overflow-auto font-mono leading-5 lg:min-h-0"
        />
        <p id={`${id}-note`} className="text-xs text-muted">
          YAML or JSON. Comments are not kept when the agent is saved.
          {base === null && ' Only the owner of this agent can save it.'}
          {base !== null && base > version && ` This is version ${version} of ${base}.`}
          {isChanged && ' You have unsaved changes; this browser tab keeps them.'}
        </p>
        <div className="flex flex-wrap gap-2">
          <ActionButton
            action="check"
            running={running}
            icon={<SearchCheck className="size-4" />}
            onClick={() => void run('check', async () => ({ kind: 'checked', check: await checkSpec(text) }))}
          >
            Check
          </ActionButton>
          <ActionButton
            action="rehearse"
            running={running}
            icon={<FlaskConical className="size-4" />}
            title="Run the agent without touching anything outside the server"
            onClick={() =>
              void run('rehearse', async () => ({
                kind: 'rehearsed',
                report: await rehearse({ spec: text }),
              }))
            }
          >
            Rehearse
          </ActionButton>
          {graphId !== null && (
            <ActionButton
              action="compare"
              running={running}
              disabled={!isChanged}
              icon={<GitCompareArrows className="size-4" />}
              title={`Compare the text with version ${version}`}
              onClick={() => void compare(graphId)}
            >
              Show changes
            </ActionButton>
          )}
          {base !== null && (
            <ActionButton
              action="save"
              running={running}
              disabled={!isChanged}
              kind="primary"
              icon={<Save className="size-4" />}
              onClick={() => void save({ draft: false })}
            >
              {graphId === null ? 'Save agent' : 'Save as new version'}
            </ActionButton>
          )}
          {isChanged && (
            <Button kind="quiet" disabled={running !== null} onClick={discard}>
              Discard changes
            </Button>
          )}
        </div>
      </div>
      <section
        aria-label="Results"
        tabIndex={0}
        className="relative min-w-0 text-sm lg:w-md lg:shrink-0 lg:overflow-y-auto lg:border-l lg:border-line lg:pl-4"
      >
        <div role="status">
          {running !== null && ACTIONS[running].running}
          {running === null && !last && (
            <p className="text-muted">Check the spec for errors, or rehearse the agent before you save it.</p>
          )}
          {running === null && last && <span className="sr-only">{summaryOf(last.outcome)}</span>}
          {running === null && last && last.text !== text && (
            <p className="mb-3 text-muted">The text has changed since.</p>
          )}
        </div>
        {running === null && last && (
          <SpecOutcomeView
            outcome={last.outcome}
            onChoose={choose}
            onFix={() => void fix()}
            onUndo={(before) => {
              onChange(before);
              setLast(null);
            }}
            onSaveDraft={base === null ? undefined : () => void save({ draft: true })}
            stale={(stale) =>
              graphId !== null && (
                <StaleSpec
                  graphId={graphId}
                  stale={stale}
                  loaded={loaded}
                  text={text}
                  onRebase={onRebase}
                  onReload={onReload}
                />
              )
            }
          />
        )}
      </section>
    </div>
  );
}

type ActionButtonProps = {
  action: Action;
  running: Action | null;
  icon: ReactNode;
  kind?: 'primary';
  disabled?: boolean;
  title?: string;
  onClick: () => void;
  children: ReactNode;
};

function ActionButton({ action, running, disabled = false, ...rest }: ActionButtonProps) {
  return <Button busy={running === action} disabled={running !== null || disabled} {...rest} />;
}

function outcomeOf(action: Action, error: unknown): SpecOutcome {
  const { invalid, failed } = ACTIONS[action];
  const problems = problemsInError(error);
  if (problems) return { kind: 'invalid', title: invalid, problems, canSaveDraft: action === 'save' };
  const stale = staleVersionOf(error);
  return stale ? { kind: 'stale', stale } : { kind: 'failed', title: failed, error };
}

/** Browsers do not scroll to a selection that a script makes. */
function selectLine(area: HTMLTextAreaElement, line: number): void {
  const [start, end] = rangeOfLine(area.value, line);
  area.focus();
  area.setSelectionRange(start, end);
  const lineHeight = Number.parseFloat(getComputedStyle(area).lineHeight) || 20;
  area.scrollTop = Math.max(0, line * lineHeight - area.clientHeight / 2);
  area.scrollLeft = 0;
}

const EXAMPLE = `name: Morning tides
inputs:
  harbor: {type: string, default: Vlissingen}
  height: number
steps:
  high: {block: Calculator, operation: Add, a: inputs.height, b: 1}
outputs:
  report: "{{harbor}}: {{high.result}} m"`;
