// What is written and not yet taken by the server, by session. It survives a reload; each tab has its own.

import { useSyncExternalStore } from 'react';

const PREFIX = 'pilothouse.draft.';
/** The place of the session that does not exist yet. */
const NEW = 'new';

/** What stands in the field. */
const written = new Map<string, string>();
/** What has left the field and has not arrived. */
const underWay = new Map<string, string>();
const listeners = new Set<() => void>();

export function draftOf(sessionId: string | null): string {
  const place = sessionId ?? NEW;
  const known = written.get(place);
  if (known !== undefined) return known;
  const text = stored(place);
  written.set(place, text);
  return text;
}

/** Replaces what is written for a session; an empty text forgets it. */
export function putDraft(sessionId: string | null, text: string): void {
  set(sessionId ?? NEW, text);
}

/** What was written for the session that did not exist yet belongs to the one it has become. */
export function carryOver(sessionId: string): void {
  const text = draftOf(null);
  if (text === '') return;
  set(NEW, '');
  set(sessionId, joined(draftOf(sessionId), text));
}

/** Empties the field. The text stays stored until it has arrived, so that a reload in between gives it back. */
export function sendOff(sessionId: string | null): void {
  const place = sessionId ?? NEW;
  underWay.set(place, draftOf(sessionId));
  set(place, '');
}

/** The text that was sent off has arrived. */
export function arrived(sessionId: string | null): void {
  const place = sessionId ?? NEW;
  underWay.delete(place);
  set(place, draftOf(sessionId));
}

/** The text that was sent off was refused: it goes before what has been written since, in the session shown now. */
export function bringBack(sentFrom: string | null, shownNow: string | null): void {
  const place = sentFrom ?? NEW;
  const text = underWay.get(place) ?? '';
  underWay.delete(place);
  const target = shownNow ?? NEW;
  if (target !== place) set(place, draftOf(sentFrom));
  set(target, joined(text, draftOf(shownNow)));
}

export function useDraft(sessionId: string | null): string {
  return useSyncExternalStore(subscribe, () => draftOf(sessionId));
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function set(place: string, text: string): void {
  written.set(place, text);
  store(place, joined(underWay.get(place) ?? '', text));
  for (const listener of listeners) listener();
}

/** What comes back goes before what has been written since, which it must not replace. */
export function joined(first: string, second: string): string {
  return [first, second].filter(Boolean).join('\n\n');
}

function stored(place: string): string {
  try {
    return sessionStorage.getItem(PREFIX + place) ?? '';
  } catch {
    return '';
  }
}

function store(place: string, text: string): void {
  try {
    if (text) sessionStorage.setItem(PREFIX + place, text);
    else sessionStorage.removeItem(PREFIX + place);
  } catch {
    // Storage may be full or forbidden: the draft then lives as long as the page.
  }
}
