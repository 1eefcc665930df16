import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { showToast } from '@/ui/feedback/toast';
import { Failure, Loading } from '@/ui/page/states';
import { linkToTab } from '../build-tabs';
import { useShowSaved } from '../versions/use-show-saved';
import { draftKey, takeProposedText, writeDraft } from './spec-drafts';
import { SpecEditor } from './spec-editor';
import { type SaveOptions, type SpecDocument, saveSpec, specKey, specQuery } from './spec-requests';
import { useDraft } from './use-draft';

/** Tab with the spec of an agent. Unsaved text is kept until it is saved or discarded. */
export function SpecTab({ graphId, version }: { graphId: string; version: number }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const showSaved = useShowSaved();
  const spec = useQuery(specQuery(graphId, version));
  const [proposed, setProposed] = useState(() => takeProposedText(graphId));
  const [draft, setDraft] = useDraft(draftKey(graphId, version));
  // While there is unsaved text, a spec that is loaded again replaces neither the text nor the version it builds on.
  const loaded = draft?.loaded ?? spec.data;
  if (proposed !== null && spec.data) {
    setProposed(null);
    setDraft({ loaded: spec.data, text: proposed });
  }

  function change(loaded: SpecDocument, text: string) {
    setDraft(text === loaded.spec ? null : { loaded, text });
  }

  async function save(loaded: SpecDocument, text: string, options: SaveOptions) {
    const graph = await saveSpec(graphId, text, loaded.base ?? loaded.version, options);
    const saved = graph.version ?? loaded.version + 1;
    client.setQueryData<SpecDocument>(specKey(graphId, saved), { spec: text, version: saved, base: saved });
    // Shown until the server has returned what it stored: in its own order, and without comments.
    void client.invalidateQueries({ queryKey: specKey(graphId, saved) });
    setDraft(null);
    showSaved(graph, 'spec');
    showToast(options.draft ? `Saved as version ${saved}, a draft.` : `Saved as version ${saved}.`, 'good');
  }

  function showVersion(newest: number | undefined) {
    void client.invalidateQueries({ queryKey: ['graph', graphId] });
    void navigate(linkToTab(graphId, newest, 'spec'));
  }

  function rebase(loaded: SpecDocument, text: string) {
    setDraft(null);
    writeDraft(draftKey(graphId, loaded.version), { loaded, text });
    showVersion(loaded.version);
  }

  function reload(newest: number | null) {
    setDraft(null);
    showVersion(newest ?? undefined);
  }

  if (!loaded || proposed !== null) {
    return (
      <div className="p-4">
        {spec.error ? (
          <Failure error={spec.error} title="Couldn't load the spec" onRetry={() => spec.refetch()} />
        ) : (
          <Loading label="Loading spec" rows={1} height="h-[60dvh]" />
        )}
      </div>
    );
  }
  return (
    <SpecEditor
      graphId={graphId}
      loaded={loaded}
      text={draft?.text ?? loaded.spec}
      onChange={(text) => change(loaded, text)}
      onSave={(text, options) => save(loaded, text, options)}
      onRebase={rebase}
      onReload={reload}
    />
  );
}
