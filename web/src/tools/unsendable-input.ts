// Finds inputs that must not be sent in a chat message: secrets, since messages are stored and readable, and files,
// since they exceed the size limit of a message.

import { asRecord } from '@/lib/json';
import { type FieldKind, fieldsOf } from '@/ui/schema-form/schema';

export type UnsendableInput = 'secret' | 'file';

/** The kind of input that keeps this form from being sent as a message, or null. */
export function unsendableInput(schema: unknown): UnsendableInput | null {
  const kinds = fieldsOf(schema).map(({ kind }) => kind);
  const marked = Object.values(asRecord(asRecord(schema).properties)).map(asRecord);
  // A number can be a secret too, but its form field does not have that flag, so the schema is checked as well.
  if (kinds.some(isA('secret')) || marked.some(isMarked)) return 'secret';
  return kinds.some(isA('file')) ? 'file' : null;
}

function isMarked({ secret, writeOnly, format }: Record<string, unknown>): boolean {
  return secret === true || writeOnly === true || format === 'password';
}

function isA(format: UnsendableInput): (kind: FieldKind) => boolean {
  return (kind) => kind.is === 'text' && kind.format === format;
}
