// Inputs that a message cannot carry: it is kept and can be read by whoever may read the conversation, and it is short.

import { fieldsOf, type Kind } from '@/ui/schema-form/schema';
import { asRecord } from './records';

export type Unfit = 'secret' | 'file';

/** Why a form for these inputs may not be sent as a message, if it may not. */
export function unfitForChat(schema: unknown): Unfit | null {
  const kinds = fieldsOf(schema).map(({ kind }) => kind);
  const marked = Object.values(asRecord(asRecord(schema).properties)).map(asRecord);
  // A number can be a secret too, but its field does not say so.
  if (kinds.some(isA('secret')) || marked.some(isMarked)) return 'secret';
  return kinds.some(isA('file')) ? 'file' : null;
}

function isMarked({ secret, writeOnly, format }: Record<string, unknown>): boolean {
  return secret === true || writeOnly === true || format === 'password';
}

function isA(format: Unfit): (kind: Kind) => boolean {
  return (kind) => kind.is === 'text' && kind.format === format;
}
