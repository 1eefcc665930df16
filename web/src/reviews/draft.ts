// The user's undecided input on a review: changes, a comment, and auto-approval for the rest of the run.

import { isRecord, parseJson } from '@/lib/json';
import type { Review, ReviewItem } from '@/protocol';

/** An editable value: strings as text, other values as JSON. */
export type DraftField = { name: string; kind: 'text' | 'json'; original: string };

export type Draft = {
  /** Edited fields only, by name. */
  changes: Record<string, string>;
  message: string;
  autoApprove: boolean;
};

export const EMPTY_DRAFT: Draft = { changes: {}, message: '', autoApprove: false };

/** Name of the single field of a payload that is not an object. */
const WHOLE_PAYLOAD = 'Content';

/** The fields to edit: those of an object, otherwise the whole payload. */
export function fieldsOf(payload: unknown): DraftField[] {
  if (hasFields(payload)) return Object.entries(payload).map(([name, value]) => field(name, value));
  return [field(WHOLE_PAYLOAD, payload)];
}

export function isEdited(review: Review, draft: Draft): boolean {
  return fieldsOf(review.payload).some((field) => textOf(field, draft) !== field.original);
}

/** Current text of a field. Uses `hasOwn`, since a field may be named "constructor". */
export function textOf({ name, original }: DraftField, { changes }: Draft): string {
  return Object.hasOwn(changes, name) ? (changes[name] ?? original) : original;
}

/** Whether auto-approval for the rest of the run is offered. A block run by the copilot has no run. */
export function canAutoApprove(review: Review): boolean {
  return sessionOf(review) === null;
}

/** Session id of a block run by the copilot; null for a run of an agent. */
export function sessionOf(review: Pick<Review, 'graph_exec_id'>): string | null {
  const prefix = 'copilot-session-';
  return review.graph_exec_id.startsWith(prefix) ? review.graph_exec_id.slice(prefix.length) : null;
}

/** Error messages by field name. */
export function errorsOf(review: Review, draft: Draft): ReadonlyMap<string, string> {
  const errors = new Map<string, string>();
  for (const field of fieldsOf(review.payload)) {
    const text = textOf(field, draft);
    if (field.kind === 'json' && text !== field.original && parseJson(text) === undefined)
      errors.set(field.name, 'Enter valid JSON.');
  }
  return errors;
}

/** The decision to send. The changes must have no errors. */
export function decisionOf(review: Review, draft: Draft, approved: boolean): ReviewItem {
  const edited = approved && review.editable && isEdited(review, draft);
  return {
    node_exec_id: review.node_exec_id,
    approved,
    message: draft.message.trim() || null,
    ...(edited && { reviewed_data: changed(review.payload, draft) }),
    // The server rejects auto-approval together with changes, since changes cannot apply to later requests.
    ...(approved && !edited && draft.autoApprove && { auto_approve_future: true }),
  };
}

function changed(payload: unknown, draft: Draft): unknown {
  const values = fieldsOf(payload).map((field) => {
    const { name, kind } = field;
    const text = textOf(field, draft);
    if (text === field.original) return [name, hasFields(payload) ? payload[name] : payload] as const;
    return [name, kind === 'json' ? parseJson(text) : text] as const;
  });
  return hasFields(payload) ? Object.fromEntries(values) : values[0]?.[1];
}

function field(name: string, value: unknown): DraftField {
  return typeof value === 'string'
    ? { name, kind: 'text', original: value }
    : { name, kind: 'json', original: JSON.stringify(value, null, 2) ?? 'null' };
}

/** Whether a payload is shown and edited field by field. */
export function hasFields(payload: unknown): payload is Record<string, unknown> {
  return isRecord(payload) && Object.keys(payload).length > 0;
}
