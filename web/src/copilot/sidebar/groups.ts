// Sessions in the order people look for them: pinned ones, then by day, each with the sub-sessions it started.

import type { SessionSummary } from '@/protocol';

export type Row = {
  session: SessionSummary;
  /** Stands below the session that started it. */
  nested: boolean;
};

export type Group = { name: string; rows: Row[] };

const NAMES = ['Pinned', 'Today', 'Yesterday', 'Earlier'] as const;

export function grouped(sessions: SessionSummary[], now = new Date()): Group[] {
  const listed = new Set(sessions.map((session) => session.id));
  const children = new Map<string, SessionSummary[]>();
  for (const session of sessions) {
    const parent = session.parent_session_id;
    if (parent && isBelow(session, listed)) children.set(parent, [...(children.get(parent) ?? []), session]);
  }
  const groups = NAMES.map((name): Group => ({ name, rows: [] }));
  for (const session of sessions) {
    if (isBelow(session, listed)) continue;
    const group = groups.find(({ name }) => name === nameOf(session, now));
    group?.rows.push({ session, nested: false }, ...descendants(session.id, children));
  }
  return groups.filter((group) => group.rows.length > 0);
}

/** A pinned sub-session stands for itself: whoever pinned it wants it at the top. */
function isBelow(session: SessionSummary, listed: ReadonlySet<string>): boolean {
  return !session.is_pinned && session.parent_session_id != null && listed.has(session.parent_session_id);
}

/** All of them at one depth: a narrow column has no room for more. */
function descendants(id: string, children: ReadonlyMap<string, SessionSummary[]>): Row[] {
  return (children.get(id) ?? []).flatMap((session) => [
    { session, nested: true },
    ...descendants(session.id, children),
  ]);
}

function nameOf(session: SessionSummary, now: Date): (typeof NAMES)[number] {
  if (session.is_pinned) return 'Pinned';
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate());
  const updated = Date.parse(session.updated_at);
  if (updated >= midnight.getTime()) return 'Today';
  // Not 24 hours earlier: days are 23 or 25 hours long when the clocks change.
  midnight.setDate(midnight.getDate() - 1);
  return updated >= midnight.getTime() ? 'Yesterday' : 'Earlier';
}
