// Operations that the history lists as running. Their rows are replaced when the result arrives.

import { asRecord, parseJson } from '@/lib/json';
import type { MessageView } from '@/protocol';

/** The rows without a result yet. */
export function pendingOperations(rows: readonly MessageView[]): MessageView[] {
  return rows.filter((row) => row.role === 'tool' && isPending(row.content));
}

function isPending(content: string): boolean {
  // Checked before parsing: most rows don't match, and some are long.
  if (!content.includes('"operation_pending"')) return false;
  return asRecord(parseJson(content)).type === 'operation_pending';
}
