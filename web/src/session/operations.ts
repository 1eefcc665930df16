// Operations that are at work according to the history: their rows are replaced when the result is there.

import type { MessageView } from '@/protocol';

/** The rows that wait for a result. */
export function openOperations(rows: readonly MessageView[]): MessageView[] {
  return rows.filter((row) => row.role === 'tool' && isPending(row.content));
}

function isPending(content: string): boolean {
  // Most rows are not, and may be long.
  if (!content.includes('"operation_pending"')) return false;
  try {
    return JSON.parse(content).type === 'operation_pending';
  } catch {
    return false;
  }
}
