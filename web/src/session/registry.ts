// Keeps the runtimes of recently opened sessions, so that leaving a chat and coming back loses nothing.

import { SessionRuntime } from './runtime';

/** How many runtimes without observers are kept. */
const MAX_IDLE = 8;

const runtimes = new Map<string, SessionRuntime>();
let newChat: SessionRuntime | null = null;

/** The runtime of a session, or of the new chat that has no session yet. */
export function runtimeOf(id: string | null): SessionRuntime {
  if (id === null) {
    newChat ??= new SessionRuntime(null, sessionCreated);
    return newChat;
  }
  const runtime = runtimes.get(id) ?? new SessionRuntime(id);
  // Most recently used last.
  runtimes.delete(id);
  runtimes.set(id, runtime);
  discardOldest();
  return runtime;
}

/** Removes a session that was deleted. */
export function discardSession(id: string): void {
  runtimes.get(id)?.close();
  runtimes.delete(id);
}

/** Removes all sessions when the user signs out. */
export function discardAllSessions(): void {
  for (const runtime of runtimes.values()) runtime.close();
  runtimes.clear();
  newChat?.close();
  newChat = null;
}

/** The new chat got its session: the next new chat starts with a fresh runtime. */
function sessionCreated(runtime: SessionRuntime, id: string): void {
  if (newChat === runtime) newChat = null;
  runtimes.set(id, runtime);
}

function discardOldest(): void {
  const idle = [...runtimes].filter(([, runtime]) => !runtime.isObserved);
  for (const [id, runtime] of idle.slice(0, Math.max(0, idle.length - MAX_IDLE))) {
    runtime.close();
    runtimes.delete(id);
  }
}
