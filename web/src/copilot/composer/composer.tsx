import { type KeyboardEvent, useRef, useState } from 'react';
import type { SessionHandle } from '@/session/types';
import { useMedia } from '@/ui/media';
import { Counter, SendButton, StopButton } from './buttons';
import { arrived, bringBack, joined, putDraft, sendOff, useDraft } from './drafts';
import {
  useCarriedDraft,
  useFocusOnFill,
  useFocusOnOpen,
  useGrowingHeight,
  useInitialText,
  useStopKey,
} from './field-behaviour';
import { FollowUps } from './follow-ups';
import { type Refusal, refusalOf } from './refusal';
import { RefusalNotice } from './refusal-notice';

/** As the server counts them: code points, not the halves JavaScript counts. */
const LONGEST = 64_000;
/** The counter appears when so much is left. */
const NEAR = 4_000;

type Props = {
  handle: SessionHandle;
  /** Written into an empty field when the page is opened with it. */
  initialText?: string;
};

/** Where people write. What is written is never lost: it is stored until the server has taken it. */
export function Composer({ handle, initialText }: Props) {
  const text = useDraft(handle.id);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [sending, setSending] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const typed = useRef(text);
  const shown = useRef(handle.id);
  shown.current = handle.id;
  // Without a keyboard Enter is the only way to a new line; the button sends.
  const touch = useMedia('(hover: none) and (pointer: coarse)');
  useCarriedDraft(handle.id);
  useGrowingHeight(field, text);
  useInitialText(handle.id, initialText);
  useStopKey(handle.busy, handle.stop);
  useFocusOnOpen(field, handle.id, touch);
  useFocusOnFill(field, text, typed);

  const length = text.length > LONGEST - NEAR ? [...text].length : text.length;
  const tooLong = length > LONGEST;
  const canSend = text.trim() !== '' && !tooLong && handle.phase !== 'loading' && !sending;

  /** What had the focus is about to go. On a tablet the field would open its keyboard, so there it waits. */
  function focusField() {
    if (!touch) field.current?.focus();
  }

  async function submit() {
    if (!canSend) return;
    const message = text.trim();
    setRefusal(null);
    setSending(true);
    const sent = sendOff(handle.id);
    focusField();
    try {
      await handle.send(message);
      arrived(sent);
    } catch (error) {
      bringBack(sent, shown.current);
      setRefusal(refusalOf(error));
    } finally {
      setSending(false);
    }
  }

  function stop() {
    handle.stop();
    focusField();
  }

  function closeRefusal() {
    setRefusal(null);
    focusField();
  }

  function onKeyDown(event: KeyboardEvent) {
    if (event.key !== 'Enter' || event.shiftKey || touch) return;
    // While an input method composes a word, Enter picks the word. Safari says so only by this old code.
    if (event.nativeEvent.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    submit();
  }

  return (
    <form
      aria-label="Message"
      className="mx-auto flex w-full max-w-3xl flex-col gap-2 px-3 pb-3 sm:px-4 sm:pb-4"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <FollowUps
        chips={handle.followUps}
        onDrop={(id) => {
          handle.dropFollowUp(id);
          focusField();
        }}
        onPutBack={(chip) => {
          handle.dropFollowUp(chip.id);
          putDraft(handle.id, joined(chip.text, text));
        }}
      />
      {refusal && <RefusalNotice refusal={refusal} onClose={closeRefusal} />}
      <div className="flex items-end gap-2 rounded-2xl border border-line-strong/60 bg-surface p-1.5 shadow-card focus-within:border-accent focus-within:ring-1 focus-within:ring-accent">
        <textarea
          ref={field}
          value={text}
          rows={1}
          onChange={(event) => {
            typed.current = event.target.value;
            putDraft(handle.id, event.target.value);
          }}
          onKeyDown={onKeyDown}
          aria-label={handle.busy ? 'Follow-up' : 'Message'}
          aria-invalid={tooLong || undefined}
          placeholder={handle.busy ? 'Add a follow-up' : 'What do you need?'}
          enterKeyHint={touch ? 'enter' : 'send'}
          className="field-sizing-content block max-h-[40dvh] min-h-10 min-w-0 flex-1 resize-none bg-transparent px-3 py-2 text-base leading-6 outline-none placeholder:text-muted"
        />
        {handle.busy && <StopButton stopping={handle.phase === 'stopping'} onStop={stop} />}
        {(!handle.busy || text.trim() !== '') && (
          <SendButton followUp={handle.busy} disabled={!canSend} sending={sending} />
        )}
      </div>
      <Counter length={length} longest={LONGEST} near={NEAR} />
    </form>
  );
}
