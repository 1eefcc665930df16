import { FlaskConical, Save, SearchCheck } from 'lucide-react';
import { useId, useRef, useState } from 'react';
import type { GraphDetails, GraphProblem } from '@/protocol';
import { Button } from '@/ui/buttons/button';
import { showToast } from '@/ui/feedback/toast';
import { TextArea } from '@/ui/form/field';
import { lineOfProblem, rangeOfLine } from './spec-lines';
import { type SpecOutcome, SpecOutcomeView, summaryOf } from './spec-outcome';
import {
  checkSpec,
  newerVersionOf,
  problemsOf,
  rehearseSpec,
  type SpecDocument,
  saveSpec,
} from './spec-requests';

type Action = 'check' | 'rehearse' | 'save';

const FAILURES: Record<Action, { invalid: string; failed: string }> = {
  check: { invalid: 'The spec has errors.', failed: "Couldn't check the spec" },
  rehearse: {
    invalid: "The agent can't be rehearsed until its errors are fixed.",
    failed: "Couldn't rehearse",
  },
  save: { invalid: 'Not saved: the agent has errors.', failed: "Couldn't save" },
};

type Props = {
  graphId: string;
  loaded: SpecDocument;
  text: string;
  onChange: (text: string) => void;
  onSaved: (graph: GraphDetails, text: string) => void;
  /** Discards the text and loads the newest version. */
  onReload: (newest: number | null) => void;
};

/** The spec as text, with buttons to check, rehearse and save it, and the outcome of the last of them. */
export function SpecEditor({ graphId, loaded, text, onChange, onSaved, onReload }: Props) {
  const area = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  const [running, setRunning] = useState<Action | null>(null);
  const [last, setLast] = useState<{ outcome: SpecOutcome; text: string } | null>(null);
  const { base, version } = loaded;

  /** Runs one action at a time. `work` returns null if there is nothing to show. */
  async function run(action: Action, work: () => Promise<SpecOutcome | null>) {
    setRunning(action);
    try {
      const outcome = await work();
      setLast(outcome && { outcome, text });
    } catch (error) {
      setLast({ outcome: outcomeOf(action, error), text });
    } finally {
      setRunning(null);
    }
  }

  async function save(base: number) {
    onSaved(await saveSpec(graphId, text, base), text);
    return null;
  }

  function choose(problem: GraphProblem) {
    const line = lineOfProblem(text, problem);
    if (line === null) showToast("This step isn't in the text anymore.");
    else if (area.current) selectLine(area.current, line);
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
          readOnly={running === 'save'}
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
        </p>
        <div className="flex flex-wrap gap-2">
          <Button
            icon={<SearchCheck className="size-4" />}
            busy={running === 'check'}
            disabled={running !== null}
            onClick={() => run('check', async () => ({ kind: 'checked', check: await checkSpec(text) }))}
          >
            Check
          </Button>
          <Button
            icon={<FlaskConical className="size-4" />}
            busy={running === 'rehearse'}
            disabled={running !== null}
            title="Run the agent without touching anything outside the server"
            onClick={() =>
              run('rehearse', async () => ({ kind: 'rehearsed', report: await rehearseSpec(text) }))
            }
          >
            Rehearse
          </Button>
          {base !== null && (
            <Button
              kind="primary"
              icon={<Save className="size-4" />}
              busy={running === 'save'}
              disabled={running !== null || text === loaded.spec}
              onClick={() => run('save', () => save(base))}
            >
              Save as new version
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
          {running === 'check' && 'Checking…'}
          {running === 'rehearse' && 'Rehearsing… This can take a minute.'}
          {running === 'save' && 'Saving…'}
          {running === null && !last && (
            <p className="text-muted">Check the spec for errors, or rehearse the agent before you save it.</p>
          )}
          {running === null && last && <span className="sr-only">{summaryOf(last.outcome)}</span>}
          {running === null && last && last.text !== text && (
            <p className="mb-3 text-muted">The text has changed since.</p>
          )}
        </div>
        {running === null && last && (
          <SpecOutcomeView outcome={last.outcome} text={text} onChoose={choose} onReload={onReload} />
        )}
      </section>
    </div>
  );
}

function outcomeOf(action: Action, error: unknown): SpecOutcome {
  const { invalid, failed } = FAILURES[action];
  const problems = problemsOf(error);
  if (problems) return { kind: 'invalid', title: invalid, problems };
  const newer = newerVersionOf(error);
  return newer ? { kind: 'stale', ...newer } : { kind: 'failed', title: failed, error };
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
