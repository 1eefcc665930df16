// Hooks for the composer's field: initial text, focus, height, and the keyboard shortcut that stops a turn.

import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react';
import { draftOf, moveNewDraft, putDraft } from './drafts';

type Field = RefObject<HTMLTextAreaElement | null>;

const GROWS_BY_ITSELF = typeof CSS !== 'undefined' && CSS.supports?.('field-sizing', 'content');

/** Fits the height to the text in browsers without `field-sizing: content`. */
export function useGrowingHeight(field: Field, text: string): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height follows the text.
  useLayoutEffect(() => {
    const area = field.current;
    if (!area || GROWS_BY_ITSELF) return;
    area.style.height = 'auto';
    area.style.height = `${area.scrollHeight}px`;
  }, [field, text]);
}

/** The text the page was opened with doesn't replace an existing draft. */
export function useInitialText(sessionId: string | null, initialText: string | undefined): void {
  useEffect(() => {
    if (initialText && draftOf(sessionId) === '') putDraft(sessionId, initialText);
  }, [sessionId, initialText]);
}

/** Moves a draft typed while a new chat's session is being created to that session. */
export function useMoveNewDraft(sessionId: string | null): void {
  const before = useRef(sessionId);
  useLayoutEffect(() => {
    if (before.current === null && sessionId !== null) moveNewDraft(sessionId);
    before.current = sessionId;
  }, [sessionId]);
}

/** Not on touch devices, where focusing would open the keyboard over the chat. */
export function useFocusOnOpen(field: Field, sessionId: string | null, touch: boolean): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: each session that is opened takes the focus once.
  useEffect(() => {
    if (!touch) field.current?.focus({ preventScroll: true });
  }, [sessionId]);
}

/** Focuses the field when text is inserted by something other than typing, with the cursor at its end. */
export function useFocusOnFill(field: Field, text: string, typed: { current: string }): void {
  useEffect(() => {
    if (text === typed.current) return;
    typed.current = text;
    if (text === '' || !field.current) return;
    field.current.focus();
    field.current.setSelectionRange(text.length, text.length);
  }, [field, text, typed]);
}

/** Ctrl+. or Cmd+. stops the turn from anywhere on the page. */
export function useStopKey(busy: boolean, stop: () => void): void {
  useEffect(() => {
    if (!busy) return;
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== '.' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      stop();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [busy, stop]);
}
