// Loads the highlighter when the first code block is shown.

import { type ReactNode, useEffect, useSyncExternalStore } from 'react';

export type HighlightFunction = (code: string, language: string) => ReactNode;

let highlight: HighlightFunction | null = null;
let isRequested = false;
const listeners = new Set<() => void>();

/** `null` until it has loaded; code is shown without highlighting until then. */
export function useHighlighter(wanted: boolean): HighlightFunction | null {
  const known = useSyncExternalStore(subscribe, () => highlight);
  useEffect(() => {
    if (wanted) loadOnce();
  }, [wanted]);
  return wanted ? known : null;
}

async function loadOnce(): Promise<void> {
  if (isRequested) return;
  isRequested = true;
  try {
    highlight = (await import('./code-colors')).highlight;
  } catch {
    // No connection: the next code block tries again.
    isRequested = false;
  }
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
