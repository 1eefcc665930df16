// Records when each session was last seen in this browser, so that the list can mark unread ones.

import { useSyncExternalStore } from 'react';
import type { SessionSummary } from '@/protocol';

const KEY = 'pilothouse.seen';
/** Beyond this number the oldest entries are dropped; those sessions then count as seen. */
const MAX_SESSIONS = 300;

type SeenSessions = {
  /** Changes up to this time count as seen. */
  until: number;
  /** The `updated_at` of each session when it was last shown. */
  sessions: Record<string, number>;
};

let current: SeenSessions | null = readStored();
const listeners = new Set<() => void>();

/** Changed since it was last shown here. A sub-session that was never opened isn't marked; its parent is. */
export function isUnread(session: SessionSummary, seen: SeenSessions | null): boolean {
  if (!seen || session.is_processing) return false;
  const shown = seen.sessions[session.id];
  if (shown === undefined && session.parent_session_id) return false;
  return Date.parse(session.updated_at) > (shown ?? seen.until);
}

/** On the first visit of a browser, all existing sessions count as seen. */
export function markFirstVisit(sessions: SessionSummary[]): void {
  if (current) return;
  set({ until: Math.max(0, ...sessions.map((session) => Date.parse(session.updated_at))), sessions: {} });
}

export function markSeen(session: SessionSummary): void {
  const updated = Date.parse(session.updated_at);
  if (!current || current.sessions[session.id] === updated) return;
  set(bounded({ ...current, sessions: { ...current.sessions, [session.id]: updated } }));
}

export function useSeen(): SeenSessions | null {
  return useSyncExternalStore(subscribe, () => current);
}

function bounded(seen: SeenSessions): SeenSessions {
  const newest = Object.entries(seen.sessions).sort(([, a], [, b]) => b - a);
  const dropped = newest.slice(MAX_SESSIONS).map(([, updated]) => updated);
  return {
    until: Math.max(seen.until, ...dropped),
    sessions: Object.fromEntries(newest.slice(0, MAX_SESSIONS)),
  };
}

function set(seen: SeenSessions): void {
  current = seen;
  try {
    localStorage.setItem(KEY, JSON.stringify(seen));
  } catch {
    // Storage may be full or disabled: the state then lasts as long as the page.
  }
  notify();
}

function readStored(): SeenSessions | null {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(KEY) ?? 'null');
    return isSeenSessions(value) ? value : null;
  } catch {
    return null;
  }
}

function isSeenSessions(value: unknown): value is SeenSessions {
  return typeof value === 'object' && value !== null && 'until' in value && 'sessions' in value;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function notify(): void {
  for (const listener of listeners) listener();
}

// Another tab has shown a session.
addEventListener('storage', (event) => {
  if (event.key !== KEY) return;
  current = readStored() ?? current;
  notify();
});
