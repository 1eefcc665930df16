import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { graphQuery, LIBRARY } from '@/agents/agent-queries';
import type { GraphDetails } from '@/protocol';
import { showToast } from '@/ui/feedback/toast';
import { Failure, Loading } from '@/ui/page/states';
import { SpecEditor } from './spec-editor';
import { type SpecDocument, specKey, specQuery } from './spec-requests';
import { UnsavedText } from './unsaved-text';

/** An edited spec, and the one that was loaded. */
type Edit = { loaded: SpecDocument; text: string };

/** Tab with the spec of an agent. It stays mounted while another tab is shown, so that unsaved text is kept. */
export function SpecTab({ graphId, version }: { graphId: string; version: number }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const spec = useQuery(specQuery(graphId, version));
  const [edit, setEdit] = useState<Edit | null>(null);
  // While there is unsaved text, a spec that is loaded again replaces neither the text nor the version it builds on.
  const loaded = edit?.loaded ?? spec.data;

  function showVersion(flowVersion: number | undefined) {
    void navigate({
      to: '/build',
      search: { flowID: graphId, flowVersion, tab: 'spec' },
      ignoreBlocker: true,
    });
  }

  function saved(graph: GraphDetails, text: string) {
    const saved = graph.version ?? version + 1;
    client.setQueryData<SpecDocument>(specKey(graphId, saved), { spec: text, version: saved, base: saved });
    client.setQueryData(graphQuery(graphId, saved).queryKey, graph);
    client.setQueryData(graphQuery(graphId).queryKey, graph);
    void client.invalidateQueries({ queryKey: ['graph', graphId, 'versions'] });
    // Shown until the server has returned what it stored: in its own order, and without comments.
    void client.invalidateQueries({ queryKey: specKey(graphId, saved) });
    void client.invalidateQueries({ queryKey: LIBRARY });
    setEdit(null);
    showVersion(undefined);
    showToast(`Saved as version ${saved}.`, 'good');
  }

  function reload(newest: number | null) {
    setEdit(null);
    void client.invalidateQueries({ queryKey: ['graph', graphId] });
    showVersion(newest ?? undefined);
  }

  if (!loaded) {
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
    <>
      <UnsavedText isUnsaved={edit !== null} />
      <SpecEditor
        graphId={graphId}
        loaded={loaded}
        text={edit?.text ?? loaded.spec}
        onChange={(text) => setEdit(text === loaded.spec ? null : { loaded, text })}
        onSaved={saved}
        onReload={reload}
      />
    </>
  );
}
