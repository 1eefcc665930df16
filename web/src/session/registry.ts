// The conversations this page keeps alive, so that going away and coming back loses nothing.

import { SessionRuntime } from './runtime';

/** How many are kept besides those that somebody looks at. */
const KEPT = 8;

const known = new Map<string, SessionRuntime>();
let draft: SessionRuntime | null = null;

/** The runtime of a session, or of the conversation that has no session yet. */
export function runtimeOf(id: string | null): SessionRuntime {
  if (id === null) {
    draft ??= new SessionRuntime(null, promoted);
    return draft;
  }
  const runtime = known.get(id) ?? new SessionRuntime(id);
  // The newest is last.
  known.delete(id);
  known.set(id, runtime);
  forgetOldest();
  return runtime;
}

/** Forgets a session that was deleted. */
export function forgetSession(id: string): void {
  known.get(id)?.close();
  known.delete(id);
}

/** Forgets all of them: they belong to whoever has signed out. */
export function forgetAll(): void {
  for (const runtime of known.values()) runtime.close();
  known.clear();
  draft?.close();
  draft = null;
}

/** The draft has become a session: the next new conversation begins with a fresh one. */
function promoted(runtime: SessionRuntime, id: string): void {
  if (draft === runtime) draft = null;
  known.set(id, runtime);
}

function forgetOldest(): void {
  const idle = [...known].filter(([, runtime]) => !runtime.isObserved);
  for (const [id, runtime] of idle.slice(0, Math.max(0, idle.length - KEPT))) {
    runtime.close();
    known.delete(id);
  }
}
