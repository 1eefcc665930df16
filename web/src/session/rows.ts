// The rows of a session that this page has read, page by page.

import type { MessageView, SessionDetail } from '@/protocol';

export type Rows = {
  /** Ascending, without holes as far as the server has any. */
  list: MessageView[];
  hasOlder: boolean;
};

export const NO_ROWS: Rows = { list: [], hasOlder: false };

type Page = Pick<SessionDetail, 'messages' | 'has_more_messages' | 'oldest_sequence'>;

/** The newest page is the truth about everything since its first row; what is older is kept if it joins it. */
export function withNewest(rows: Rows, page: Page): Rows {
  const list = reused(page.messages, rows.list);
  const first = page.oldest_sequence ?? 0;
  // The rows of an answer that was given anew are gone, so a hole in the numbers says nothing. A page that shares no
  // row with what is known does: there may be others between them.
  const joins = rows.list.some((row) => row.sequence >= first - 1);
  if (!page.has_more_messages || !joins) return { list, hasOlder: page.has_more_messages };
  return { list: [...rows.list.filter((row) => row.sequence < first), ...list], hasOlder: rows.hasOlder };
}

export function withOlder(rows: Rows, page: Page): Rows {
  const first = rows.list[0]?.sequence ?? Number.POSITIVE_INFINITY;
  const older = page.messages.filter((row) => row.sequence < first);
  return { list: [...older, ...rows.list], hasOlder: page.has_more_messages };
}

/** A page somewhere in the middle: only rows that are known are replaced. */
export function withAgain(rows: Rows, page: Page): Rows {
  const read = new Map(page.messages.map((row) => [row.id, row]));
  const list = rows.list.map((row) => {
    const again = read.get(row.id);
    return again && !same(row, again) ? again : row;
  });
  return { ...rows, list };
}

/** Rows that have not changed stay the same objects, so that what is made of them is not made again. */
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
