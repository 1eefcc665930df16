// What a person has written on a review before it is decided: changes, a remark, and whether it holds for the rest.

import type { Review, ReviewItem } from '@/protocol';

/** A value that can be changed by itself: text as it is, everything else as JSON. */
export type DraftField = { name: string; kind: 'text' | 'json'; original: string };

export type Draft = {
  /** Only what was touched, by field. */
  changes: Record<string, string>;
  message: string;
  forTheRest: boolean;
};

export const EMPTY_DRAFT: Draft = { changes: {}, message: '', forTheRest: false };

/** The name of the only field of a payload that has none. */
const WHOLE = 'Content';

/** An object is changed field by field, anything else as a whole. */
export function fieldsOf(payload: unknown): DraftField[] {
  if (hasFields(payload)) return Object.entries(payload).map(([name, value]) => field(name, value));
  return [field(WHOLE, payload)];
}

export function isEdited(review: Review, draft: Draft): boolean {
  return fieldsOf(review.payload).some((field) => textOf(field, draft) !== field.original);
}

/** What stands in a field. A payload may call one "constructor", which every object has without being given it. */
export function textOf({ name, original }: DraftField, { changes }: Draft): string {
  return Object.hasOwn(changes, name) ? (changes[name] ?? original) : original;
}

/** Whether to approve the same node for the rest of the run can be asked: a block in a session has no rest. */
export function canHoldForTheRest(review: Review): boolean {
  return sessionOf(review) === null;
}

/** The session of a block that the copilot runs by itself. */
export function sessionOf(review: Pick<Review, 'graph_exec_id'>): string | null {
  const place = 'copilot-session-';
  return review.graph_exec_id.startsWith(place) ? review.graph_exec_id.slice(place.length) : null;
}

/** What is wrong with the fields, by name. */
export function faultsOf(review: Review, draft: Draft): ReadonlyMap<string, string> {
  const faults = new Map<string, string>();
  for (const field of fieldsOf(review.payload)) {
    const text = textOf(field, draft);
    if (field.kind === 'json' && text !== field.original && parsed(text) === undefined)
      faults.set(field.name, 'This is not JSON.');
  }
  return faults;
}

/** What is sent. The changes must be without fault. */
export function verdictOf(review: Review, draft: Draft, approved: boolean): ReviewItem {
  const edited = approved && review.editable && isEdited(review, draft);
  return {
    node_exec_id: review.node_exec_id,
    approved,
    message: draft.message.trim() || null,
    ...(edited && { reviewed_data: changed(review.payload, draft) }),
    // Nobody can have changed what is yet to come, so the server takes only one of the two.
    ...(approved && !edited && draft.forTheRest && { auto_approve_future: true }),
  };
}

function changed(payload: unknown, draft: Draft): unknown {
  const values = fieldsOf(payload).map((field) => {
    const { name, kind } = field;
    const text = textOf(field, draft);
    if (text === field.original) return [name, hasFields(payload) ? payload[name] : payload] as const;
    return [name, kind === 'json' ? parsed(text) : text] as const;
  });
  return hasFields(payload) ? Object.fromEntries(values) : values[0]?.[1];
}

function field(name: string, value: unknown): DraftField {
  return typeof value === 'string'
    ? { name, kind: 'text', original: value }
    : { name, kind: 'json', original: JSON.stringify(value, null, 2) ?? 'null' };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a payload is shown and changed field by field. */
export function hasFields(payload: unknown): payload is Record<string, unknown> {
  return (
    typeof payload === 'object' &&
    payload !== null &&
    !Array.isArray(payload) &&
    Object.keys(payload).length > 0
  );
}
