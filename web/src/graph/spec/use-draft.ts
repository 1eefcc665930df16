import { useState } from 'react';
import { readDraft, type SpecDraft, writeDraft } from './spec-drafts';

/** The unsaved text with a key, as it is stored. */
export function useDraft(key: string): [SpecDraft | null, (draft: SpecDraft | null) => void] {
  const [state, setState] = useState(() => ({ key, draft: readDraft(key) }));
  const current = state.key === key ? state : { key, draft: readDraft(key) };
  // Another version has its own draft.
  if (current !== state) setState(current);
  const set = (draft: SpecDraft | null) => {
    writeDraft(key, draft);
    setState({ key, draft });
  };
  return [current.draft, set];
}
