// Fetches the highlighter when the first code is shown.

import { type ReactNode, useEffect, useSyncExternalStore } from 'react';

export type Highlight = (code: string, language: string) => ReactNode;

let highlight: Highlight | null = null;
let asked = false;
const listeners = new Set<() => void>();

/** `null` until it is there; code is then shown without colours. */
export function useHighlighter(wanted: boolean): Highlight | null {
  const known = useSyncExternalStore(subscribe, () => highlight);
  useEffect(() => {
    if (wanted) fetchOnce();
  }, [wanted]);
  return wanted ? known : null;
}

async function fetchOnce(): Promise<void> {
  if (asked) return;
  asked = true;
  try {
    highlight = (await import('./code-colours')).highlight;
  } catch {
    // No connection: the next block of code asks again.
    asked = false;
  }
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
