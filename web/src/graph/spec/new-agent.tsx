import { showToast } from '@/ui/feedback/toast';
import { useTitle } from '@/ui/page/page';
import { useShowSaved } from '../versions/use-show-saved';
import { NEW_AGENT } from './spec-drafts';
import { SpecEditor } from './spec-editor';
import { createFromSpec, type SaveOptions, type SpecDocument } from './spec-requests';
import { useDraft } from './use-draft';

const NOTHING: SpecDocument = { spec: '', version: 0, base: 0 };

/** Writes the spec of an agent that is not stored yet. */
export function NewAgent() {
  const [draft, setDraft] = useDraft(NEW_AGENT);
  const showSaved = useShowSaved();
  useTitle('New agent');

  async function save(text: string, options: SaveOptions) {
    const graph = await createFromSpec(text, options);
    setDraft(null);
    showSaved(graph, 'graph');
    showToast(`Saved “${graph.name}” in your library.`, 'good');
  }

  return (
    <div className="flex h-full min-h-0 flex-col">
      <header className="border-b border-line bg-surface px-4 py-3">
        <h1 className="text-lg font-semibold">New agent</h1>
      </header>
      <div className="min-h-0 flex-1 overflow-y-auto">
        <SpecEditor
          graphId={null}
          loaded={NOTHING}
          text={draft?.text ?? ''}
          onChange={(text) => setDraft(text === '' ? null : { loaded: NOTHING, text })}
          onSave={save}
        />
      </div>
    </div>
  );
}
