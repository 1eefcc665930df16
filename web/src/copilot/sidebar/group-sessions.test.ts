import { describe, expect, test } from 'vitest';
import type { SessionSummary } from '@/protocol';
import { groupSessions } from './group-sessions';

const NOW = new Date(2026, 10, 16, 12);

function session(id: string, hoursAgo: number, more: Partial<SessionSummary> = {}): SessionSummary {
  const time = new Date(NOW.getTime() - hoursAgo * 3_600_000).toISOString();
  return {
    id,
    title: id,
    created_at: time,
    updated_at: time,
    chat_status: 'idle',
    is_processing: false,
    is_pinned: false,
    parent_session_id: null,
    ...more,
  };
}

const shape = (sessions: SessionSummary[]) =>
  groupSessions(sessions, NOW).map(({ name, rows }) => [
    name,
    ...rows.map((row) => (row.nested ? `> ${row.session.id}` : row.session.id)),
  ]);

describe('sessions are groupSessions', () => {
  test('by day, pinned ones first', () => {
    const all = [
      session('pinned', 100, { is_pinned: true }),
      session('noon', 0),
      session('midnight', 12),
      session('before', 12.1),
      session('old', 40),
    ];
    expect(shape(all)).toEqual([
      ['Pinned', 'pinned'],
      ['Today', 'noon', 'midnight'],
      ['Yesterday', 'before'],
      ['Earlier', 'old'],
    ]);
  });

  test('with sub-sessions below their parent', () => {
    const all = [
      session('child', 0, { parent_session_id: 'parent' }),
      session('grandchild', 0, { parent_session_id: 'child' }),
      session('parent', 30),
    ];
    expect(shape(all)).toEqual([['Yesterday', 'parent', '> child', '> grandchild']]);
  });

  test('a sub-session whose parent is not listed is a top-level row', () => {
    expect(shape([session('child', 0, { parent_session_id: 'gone' })])).toEqual([['Today', 'child']]);
  });
});
