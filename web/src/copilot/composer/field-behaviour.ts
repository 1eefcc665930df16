// How the field of the composer behaves: what is in it first, when it has the focus, how high it is, and the key
// that stops a turn.

import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react';
import { carryOver, draftOf, putDraft } from './drafts';

type Field = RefObject<HTMLTextAreaElement | null>;

const GROWS_BY_ITSELF = typeof CSS !== 'undefined' && CSS.supports?.('field-sizing', 'content');

/** As high as its text, in browsers whose style sheets cannot say so (`field-sizing: content`). */
export function useGrowingHeight(field: Field, text: string): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height follows the text.
  useLayoutEffect(() => {
    const area = field.current;
    if (!area || GROWS_BY_ITSELF) return;
    area.style.height = 'auto';
    area.style.height = `${area.scrollHeight}px`;
  }, [field, text]);
}

/** What the page was opened with does not replace what somebody has written. */
export function useInitialText(sessionId: string | null, initialText: string | undefined): void {
  useEffect(() => {
    if (initialText && draftOf(sessionId) === '') putDraft(sessionId, initialText);
  }, [sessionId, initialText]);
}

/** What is written while a new conversation gets its id goes along into its session. */
export function useCarriedDraft(sessionId: string | null): void {
  const before = useRef(sessionId);
  useLayoutEffect(() => {
    if (before.current === null && sessionId !== null) carryOver(sessionId);
    before.current = sessionId;
  }, [sessionId]);
}

/** A tablet would open its keyboard over the conversation, so there the field waits to be touched. */
export function useFocusOnOpen(field: Field, sessionId: string | null, touch: boolean): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: each session that is opened takes the focus once.
  useEffect(() => {
    if (!touch) field.current?.focus({ preventScroll: true });
  }, [sessionId]);
}

/** A text that was put here by something else wants to be read and changed, from its end. */
export function useFocusOnFill(field: Field, text: string, typed: { current: string }): void {
  useEffect(() => {
    if (text === typed.current) return;
    typed.current = text;
    if (text === '' || !field.current) return;
    field.current.focus();
    field.current.setSelectionRange(text.length, text.length);
  }, [field, text, typed]);
}

/** Ctrl or Cmd with a full stop ends the turn from anywhere on the page. */
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
