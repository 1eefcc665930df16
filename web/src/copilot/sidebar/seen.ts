// What this browser has seen of each session, so that the list can mark what is new.

import { useSyncExternalStore } from 'react';
import type { SessionSummary } from '@/protocol';

const KEY = 'pilothouse.seen';
/** More are forgotten, the oldest first; they then count as seen. */
const MOST = 300;

type Seen = {
  /** Whatever changed until then counts as seen. */
  until: number;
  /** When each session had last changed as it was last shown. */
  sessions: Record<string, number>;
};

let known: Seen | null = stored();
const listeners = new Set<() => void>();

/** Changed since it was last shown here. A sub-session nobody has opened is its parent's matter. */
export function isUnread(session: SessionSummary, seen: Seen | null): boolean {
  if (!seen || session.is_processing) return false;
  const shown = seen.sessions[session.id];
  if (shown === undefined && session.parent_session_id) return false;
  return Date.parse(session.updated_at) > (shown ?? seen.until);
}

/** A browser that comes for the first time has no news: all that is there counts as seen. */
export function markFirstVisit(sessions: SessionSummary[]): void {
  if (known) return;
  set({ until: Math.max(0, ...sessions.map((session) => Date.parse(session.updated_at))), sessions: {} });
}

export function markSeen(session: SessionSummary): void {
  const updated = Date.parse(session.updated_at);
  if (!known || known.sessions[session.id] === updated) return;
  set(bounded({ ...known, sessions: { ...known.sessions, [session.id]: updated } }));
}

export function useSeen(): Seen | null {
  return useSyncExternalStore(subscribe, () => known);
}

function bounded(seen: Seen): Seen {
  const newest = Object.entries(seen.sessions).sort(([, a], [, b]) => b - a);
  const forgotten = newest.slice(MOST).map(([, updated]) => updated);
  return {
    until: Math.max(seen.until, ...forgotten),
    sessions: Object.fromEntries(newest.slice(0, MOST)),
  };
}

function set(seen: Seen): void {
  known = seen;
  try {
    localStorage.setItem(KEY, JSON.stringify(seen));
  } catch {
    // Storage may be full or forbidden: it is then known as long as the page lives.
  }
  tell();
}

function stored(): Seen | null {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(KEY) ?? 'null');
    return isSeen(value) ? value : null;
  } catch {
    return null;
  }
}

function isSeen(value: unknown): value is Seen {
  return typeof value === 'object' && value !== null && 'until' in value && 'sessions' in value;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function tell(): void {
  for (const listener of listeners) listener();
}

// Another tab has shown a session.
addEventListener('storage', (event) => {
  if (event.key !== KEY) return;
  known = stored() ?? known;
  tell();
});
