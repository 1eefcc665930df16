// Records when each session was last seen in this browser, so that the list can mark unread ones.

import { Store, useStore } from '@/lib/store';
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

const seen = new Store<SeenSessions | null>(readStored());

/** Changed since it was last shown here. A sub-session that was never opened isn't marked; its parent is. */
export function isUnread(session: SessionSummary, seen: SeenSessions | null): boolean {
  if (!seen || session.is_processing) return false;
  const shown = seen.sessions[session.id];
  if (shown === undefined && session.parent_session_id) return false;
  return Date.parse(session.updated_at) > (shown ?? seen.until);
}

/** On the first visit of a browser, all existing sessions count as seen. */
export function markFirstVisit(sessions: SessionSummary[]): void {
  if (seen.get()) return;
  save({ until: Math.max(0, ...sessions.map((session) => Date.parse(session.updated_at))), sessions: {} });
}

export function markSeen(session: SessionSummary): void {
  const updated = Date.parse(session.updated_at);
  const current = seen.get();
  if (!current || current.sessions[session.id] === updated) return;
  save(bounded({ ...current, sessions: { ...current.sessions, [session.id]: updated } }));
}

export function useSeen(): SeenSessions | null {
  return useStore(seen);
}

function bounded(seen: SeenSessions): SeenSessions {
  const newest = Object.entries(seen.sessions).sort(([, a], [, b]) => b - a);
  const dropped = newest.slice(MAX_SESSIONS).map(([, updated]) => updated);
  return {
    until: Math.max(seen.until, ...dropped),
    sessions: Object.fromEntries(newest.slice(0, MAX_SESSIONS)),
  };
}

function save(next: SeenSessions): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(next));
  } catch {
    // Storage may be full or disabled: the state then lasts as long as the page.
  }
  seen.set(next);
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

// Another tab has shown a session.
addEventListener('storage', (event) => {
  if (event.key === KEY) seen.set(readStored() ?? seen.get());
});
