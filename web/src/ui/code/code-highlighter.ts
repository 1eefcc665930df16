// Loads the highlighter when the first code block is shown.

import { type ReactNode, useEffect } from 'react';
import { Store, useStore } from '@/lib/store';

export type HighlightFunction = (code: string, language: string) => ReactNode;

const highlighter = new Store<HighlightFunction | null>(null);
let isRequested = false;

/** `null` until it has loaded; code is shown without highlighting until then. */
export function useHighlighter(wanted: boolean): HighlightFunction | null {
  const known = useStore(highlighter);
  useEffect(() => {
    if (wanted) loadOnce();
  }, [wanted]);
  return wanted ? known : null;
}

async function loadOnce(): Promise<void> {
  if (isRequested) return;
  isRequested = true;
  try {
    highlighter.set((await import('./code-colors')).highlight);
  } catch {
    // No connection: the next code block tries again.
    isRequested = false;
  }
}
