// Drafts by session: text that the server hasn't accepted yet. They survive a reload; each tab has its own.

import { useSyncExternalStore } from 'react';
import { Store } from '@/lib/store';

const PREFIX = 'pilothouse.draft.';
/** The key of the new chat, which has no session yet. */
const NEW_CHAT = 'new';

/** The text in the field, by key. Keys that are not here yet have the text that is stored. */
const drafts = new Store<ReadonlyMap<string, string>>(new Map());
/** Texts that are being sent, by key and in the order they were sent. */
const outgoing = new Map<string, Set<OutgoingText>>();

/** A text that is being sent. */
export type OutgoingText = { key: string; text: string };

export function draftOf(sessionId: string | null): string {
  return textAt(sessionId ?? NEW_CHAT);
}

function textAt(key: string): string {
  return drafts.get().get(key) ?? stored(key);
}

/** Replaces the draft of a session; an empty text removes it. */
export function putDraft(sessionId: string | null, text: string): void {
  set(sessionId ?? NEW_CHAT, text);
}

/** Moves the draft of the new chat to the session that was created for it. */
export function moveNewDraft(sessionId: string): void {
  const text = draftOf(null);
  if (text === '') return;
  set(NEW_CHAT, '');
  set(sessionId, joinTexts(draftOf(sessionId), text));
}

/** Empties the field. The text stays stored until the server has accepted it, so that a reload restores it. */
export function startSending(sessionId: string | null): OutgoingText {
  const sent = { key: sessionId ?? NEW_CHAT, text: draftOf(sessionId) };
  outgoing.set(sent.key, new Set([...(outgoing.get(sent.key) ?? []), sent]));
  set(sent.key, '');
  return sent;
}

/** The server has accepted the text. */
export function confirmSent(sent: OutgoingText): void {
  outgoing.get(sent.key)?.delete(sent);
  set(sent.key, textAt(sent.key));
}

/** The server has refused the text: puts it before any newer text of its session. */
export function restoreDraft(sent: OutgoingText, currentSession: string | null): void {
  confirmSent(sent);
  const key = currentSession ?? NEW_CHAT;
  set(key, joinTexts(sent.text, textAt(key)));
}

/** Removes all drafts, for example when the user signs out. */
export function clearDrafts(): void {
  const keys = new Set([...drafts.get().keys(), ...outgoing.keys(), ...storedKeys()]);
  outgoing.clear();
  for (const key of keys) set(key, '');
}

export function useDraft(sessionId: string | null): string {
  return useSyncExternalStore(drafts.subscribe, () => draftOf(sessionId));
}

function set(key: string, text: string): void {
  const sent = [...(outgoing.get(key) ?? [])].map((one) => one.text);
  store(key, [...sent, text].reduce(joinTexts, ''));
  drafts.set(new Map(drafts.get()).set(key, text));
}

/** Restored text goes before newer text, which must not be replaced. */
export function joinTexts(first: string, second: string): string {
  return [first, second].filter(Boolean).join('\n\n');
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

function stored(key: string): string {
  try {
    return sessionStorage.getItem(PREFIX + key) ?? '';
  } catch {
    return '';
  }
}

function store(key: string, text: string): void {
  try {
    if (text) sessionStorage.setItem(PREFIX + key, text);
    else sessionStorage.removeItem(PREFIX + key);
  } catch {
    // Storage may be full or disabled: the draft then lasts as long as the page.
  }
}
