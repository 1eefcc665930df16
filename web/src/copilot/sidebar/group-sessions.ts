// Groups sessions: pinned ones first, then by day, each followed by its sub-sessions.

import type { SessionSummary } from '@/protocol';

export type SessionGroupRow = {
  session: SessionSummary;
  /** Listed below the session that started it. */
  nested: boolean;
};

export type SessionGroup = { name: string; rows: SessionGroupRow[] };

const GROUP_NAMES = ['Pinned', 'Today', 'Yesterday', 'Earlier'] as const;

export function groupSessions(sessions: SessionSummary[], now = new Date()): SessionGroup[] {
  const listed = new Set(sessions.map((session) => session.id));
  const children = new Map<string, SessionSummary[]>();
  for (const session of sessions) {
    const parent = session.parent_session_id;
    if (parent && isNested(session, listed)) children.set(parent, [...(children.get(parent) ?? []), session]);
  }
  const groups = GROUP_NAMES.map((name): SessionGroup => ({ name, rows: [] }));
  for (const session of sessions) {
    if (isNested(session, listed)) continue;
    const group = groups.find(({ name }) => name === groupNameOf(session, now));
    group?.rows.push({ session, nested: false }, ...descendants(session.id, children));
  }
  return groups.filter((group) => group.rows.length > 0);
}

/** A pinned sub-session isn't nested, so that it is listed under "Pinned". */
function isNested(session: SessionSummary, listed: ReadonlySet<string>): boolean {
  return !session.is_pinned && session.parent_session_id != null && listed.has(session.parent_session_id);
}

/** All levels at one depth: the narrow column has no room for more. */
function descendants(id: string, children: ReadonlyMap<string, SessionSummary[]>): SessionGroupRow[] {
  return (children.get(id) ?? []).flatMap((session) => [
    { session, nested: true },
    ...descendants(session.id, children),
  ]);
}

function groupNameOf(session: SessionSummary, now: Date): (typeof GROUP_NAMES)[number] {
  if (session.is_pinned) return 'Pinned';
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate());
  const updated = Date.parse(session.updated_at);
  if (updated >= midnight.getTime()) return 'Today';
  // Not 24 hours earlier: days are 23 or 25 hours long when the clocks change.
  midnight.setDate(midnight.getDate() - 1);
  return updated >= midnight.getTime() ? 'Yesterday' : 'Earlier';
}
