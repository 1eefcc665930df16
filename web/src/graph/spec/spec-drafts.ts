// Edited specs that are not saved yet. They survive a reload; each tab of the browser has its own.

import { asRecord, parseJson } from '@/lib/json';
import type { SpecDocument } from './spec-requests';

const PREFIX = 'pilothouse.spec.';

/** The draft of an agent that is not stored yet. */
export const NEW_AGENT = 'new';

/** An edited spec, and the one that was loaded. */
export type SpecDraft = { loaded: SpecDocument; text: string };

/** For browsers without storage: drafts then last as long as the page. */
const drafts = new Map<string, string>();

/** The key of the draft of a stored version. */
export function draftKey(graphId: string, version: number): string {
  return `${graphId}/${version}`;
}

export function readDraft(key: string): SpecDraft | null {
  const { text, loaded } = asRecord(parseJson(stored(key)));
  const { spec, version, base } = asRecord(loaded);
  if (typeof text !== 'string' || typeof spec !== 'string' || typeof version !== 'number') return null;
  return { text, loaded: { spec, version, base: typeof base === 'number' ? base : null } };
}

/** Replaces a draft; null removes it. */
export function writeDraft(key: string, draft: SpecDraft | null): void {
  store(key, draft && JSON.stringify(draft));
}

/** Leaves a text for the spec tab of an agent, which opens it as unsaved changes of the version that it shows. */
export function proposeText(graphId: string, text: string): void {
  store(`${graphId}/proposed`, text);
}

/** The text that was left for an agent. It is taken once. */
export function takeProposedText(graphId: string): string | null {
  const key = `${graphId}/proposed`;
  const text = stored(key);
  store(key, null);
  return text || null;
}

/** Removes all drafts, for example when the user signs out. */
export function clearSpecDrafts(): void {
  for (const key of [...drafts.keys(), ...storedKeys()]) store(key, null);
}

function stored(key: string): string {
  const known = drafts.get(key);
  if (known !== undefined) return known;
  try {
    return sessionStorage.getItem(PREFIX + key) ?? '';
  } catch {
    return '';
  }
}

function store(key: string, text: string | null): void {
  if (text === null) drafts.delete(key);
  else drafts.set(key, text);
  try {
    if (text === null) sessionStorage.removeItem(PREFIX + key);
    else sessionStorage.setItem(PREFIX + key, text);
  } catch {
    // Storage may be full or disabled.
  }
}

function storedKeys(): string[] {
  try {
    return Object.keys(sessionStorage).flatMap((item) =>
      item.startsWith(PREFIX) ? [item.slice(PREFIX.length)] : [],
    );
  } catch {
    return [];
  }
}
