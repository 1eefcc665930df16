// What is written and not yet taken by the server, by session. It survives a reload; each tab has its own.

import { useSyncExternalStore } from 'react';

const PREFIX = 'pilothouse.draft.';
/** The place of the session that does not exist yet. */
const NEW = 'new';

/** What stands in the field. */
const written = new Map<string, string>();
/** What has left the field and has not arrived, by place and in the order it was sent. */
const underWay = new Map<string, Set<SentOff>>();
const listeners = new Set<() => void>();

/** One text on its way. */
export type SentOff = { place: string; text: string };

export function draftOf(sessionId: string | null): string {
  return textAt(sessionId ?? NEW);
}

function textAt(place: string): string {
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
export function sendOff(sessionId: string | null): SentOff {
  const sent = { place: sessionId ?? NEW, text: draftOf(sessionId) };
  underWay.set(sent.place, new Set([...(underWay.get(sent.place) ?? []), sent]));
  set(sent.place, '');
  return sent;
}

/** The text that was sent off has arrived. */
export function arrived(sent: SentOff): void {
  underWay.get(sent.place)?.delete(sent);
  set(sent.place, textAt(sent.place));
}

/** The text that was sent off was refused: it goes before what has been written since, in its session. */
export function bringBack(sent: SentOff, sessionNow: string | null): void {
  arrived(sent);
  const place = sessionNow ?? NEW;
  set(place, joined(sent.text, textAt(place)));
}

/** Forgets everything: it belongs to whoever has left. */
export function forgetDrafts(): void {
  const places = new Set([...written.keys(), ...underWay.keys(), ...storedPlaces()]);
  underWay.clear();
  for (const place of places) set(place, '');
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
  const sent = [...(underWay.get(place) ?? [])].map((one) => one.text);
  store(place, [...sent, text].reduce(joined, ''));
  for (const listener of listeners) listener();
}

/** What comes back goes before what has been written since, which it must not replace. */
export function joined(first: string, second: string): string {
  return [first, second].filter(Boolean).join('\n\n');
}

function storedPlaces(): string[] {
  try {
    return Object.keys(sessionStorage).flatMap((key) =>
      key.startsWith(PREFIX) ? [key.slice(PREFIX.length)] : [],
    );
  } catch {
    return [];
  }
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
