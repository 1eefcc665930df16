import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { AgentDiffView } from '@/agents/agent-diff-view';
import { Button } from '@/ui/buttons/button';
import { CopyButton } from '@/ui/buttons/copy-button';
import { useAttempt } from '@/ui/form/use-attempt';
import type { StaleVersion } from '../versions/stale-version';
import { diffQuery } from '../versions/version-requests';
import { mergeTexts } from './merge-texts';
import { loadSpec, type SpecDocument } from './spec-requests';

type Props = {
  graphId: string;
  stale: StaleVersion;
  loaded: SpecDocument;
  text: string;
  onRebase?: (loaded: SpecDocument, text: string) => void;
  onReload?: (newest: number | null) => void;
};

/** Another version was saved meanwhile: shows what changed, and offers to apply the text to it or to discard it. */
export function StaleSpec({ graphId, stale: { newest }, loaded, text, onRebase, onReload }: Props) {
  const { busy, problem, attempt } = useAttempt();
  /** The newest spec, if the changes could not be combined. */
  const [conflict, setConflict] = useState<SpecDocument | null>(null);

  async function applyAgain(newest: number) {
    await attempt(async () => {
      const theirs = await loadSpec(graphId, newest);
      // The text of an older version was meant to replace the newest one as a whole.
      const isNewer = loaded.version === loaded.base;
      const merged = isNewer ? mergeTexts(loaded.spec, text, theirs.spec) : text;
      if (merged === null) setConflict(theirs);
      else onRebase?.(theirs, merged);
    });
  }

  return (
    <div
      role="alert"
      className="flex flex-col gap-3 rounded-xl border border-warn/30 bg-warn-soft px-4 py-3 text-sm"
    >
      <p>
        <span className="font-medium">This agent was changed while you edited it.</span>{' '}
        {newest !== null && `Its newest version is ${newest}. `}
        Your text was not saved; it is still here.
      </p>
      {newest !== null && loaded.base !== null && (
        <ChangedMeanwhile graphId={graphId} from={loaded.base} to={newest} />
      )}
      {conflict && (
        <p className="font-medium">
          Both of you changed the same lines, so your changes can't be applied automatically.
        </p>
      )}
      {problem && <p className="text-bad">{problem}</p>}
      <div className="flex flex-wrap items-center gap-2">
        {newest !== null && !conflict && (
          <Button size="small" kind="primary" busy={busy} onClick={() => void applyAgain(newest)}>
            Apply my changes to version {newest}
          </Button>
        )}
        {conflict && (
          <Button size="small" onClick={() => onRebase?.(conflict, text)}>
            Continue with my text on version {conflict.version}
          </Button>
        )}
        <Button size="small" onClick={() => onReload?.(newest)}>
          Discard my text and reload
        </Button>
        <CopyButton text={text} label="Copy my text" />
      </div>
    </div>
  );
}

function ChangedMeanwhile({ graphId, from, to }: { graphId: string; from: number; to: number }) {
  const { data: diff } = useQuery(diffQuery(graphId, from, to));
  if (!diff) return null;
  return (
    <div className="flex flex-col gap-1.5 rounded-lg bg-surface p-3">
      <p className="font-medium">What changed meanwhile</p>
      <AgentDiffView diff={diff} />
    </div>
  );
}
