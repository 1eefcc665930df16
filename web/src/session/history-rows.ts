// The history rows that have been loaded, page by page.

import type { MessageView, SessionDetail } from '@/protocol';

export type HistoryRows = {
  /** Ascending, without gaps other than those on the server. */
  list: MessageView[];
  hasOlder: boolean;
};

export const NO_ROWS: HistoryRows = { list: [], hasOlder: false };

type Page = Pick<SessionDetail, 'messages' | 'has_more_messages' | 'oldest_sequence'>;

/** The newest page replaces everything from its first row on; older rows are kept if they adjoin it. */
export function withNewest(rows: HistoryRows, page: Page): HistoryRows {
  const list = reused(page.messages, rows.list);
  const first = page.oldest_sequence ?? 0;
  // Regenerating a response deletes its rows, so a gap in the sequence numbers doesn't mean that rows are missing.
  // A page that has no row in common with the loaded ones does: there may be others between them.
  const joins = rows.list.some((row) => row.sequence >= first - 1);
  if (!page.has_more_messages || !joins) return { list, hasOlder: page.has_more_messages };
  return { list: [...rows.list.filter((row) => row.sequence < first), ...list], hasOlder: rows.hasOlder };
}

export function withOlder(rows: HistoryRows, page: Page): HistoryRows {
  const first = rows.list[0]?.sequence ?? Number.POSITIVE_INFINITY;
  const older = page.messages.filter((row) => row.sequence < first);
  return { list: [...older, ...rows.list], hasOlder: page.has_more_messages };
}

/** Updates loaded rows from a page in the middle. HistoryRows that aren't loaded are ignored. */
export function withReread(rows: HistoryRows, page: Page): HistoryRows {
  const read = new Map(page.messages.map((row) => [row.id, row]));
  const list = rows.list.map((row) => {
    const again = read.get(row.id);
    return again && !same(row, again) ? again : row;
  });
  return { ...rows, list };
}

/** Unchanged rows stay the same objects, so that messages aren't rebuilt. */
function reused(read: MessageView[], known: readonly MessageView[]): MessageView[] {
  const byId = new Map(known.map((row) => [row.id, row]));
  return read.map((row) => {
    const before = byId.get(row.id);
    return before && same(before, row) ? before : row;
  });
}

function same(one: MessageView, other: MessageView): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
