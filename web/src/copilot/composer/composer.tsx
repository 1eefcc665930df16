import { type KeyboardEvent, useRef, useState } from 'react';
import { useMedia } from '@/lib/use-media';
import type { SessionHandle } from '@/session/types';
import { Counter, SendButton, StopButton } from './buttons';
import { confirmSent, joinTexts, putDraft, restoreDraft, startSending, useDraft } from './drafts';
import {
  useFocusOnFill,
  useFocusOnOpen,
  useGrowingHeight,
  useInitialText,
  useMoveNewDraft,
  useStopKey,
} from './field-behavior';
import { FollowUps } from './follow-ups';
import { type SendError, sendErrorOf } from './send-error';
import { SendErrorNotice } from './send-error-notice';

/** In code points, as the server counts; JavaScript's `length` counts UTF-16 units. */
const MAX_LENGTH = 64_000;
/** The counter appears when this many characters are left. */
const COUNTER_FROM = 4_000;

type Props = {
  handle: SessionHandle;
  /** Put into an empty field when the page is opened. */
  initialText?: string;
};

/** The message form. Drafts are never lost: they are stored until the server has accepted the message. */
export function Composer({ handle, initialText }: Props) {
  const text = useDraft(handle.id);
  const [sendError, setSendError] = useState<SendError | null>(null);
  const [sending, setSending] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const typed = useRef(text);
  const shownSession = useRef(handle.id);
  shownSession.current = handle.id;
  // On touch keyboards Enter is the only way to start a new line; the button sends.
  const touch = useMedia('(hover: none) and (pointer: coarse)');
  useMoveNewDraft(handle.id);
  useGrowingHeight(field, text);
  useInitialText(handle.id, initialText);
  useStopKey(handle.busy, handle.stop);
  useFocusOnOpen(field, handle.id, touch);
  useFocusOnFill(field, text, typed);

  const length = text.length > MAX_LENGTH - COUNTER_FROM ? [...text].length : text.length;
  const tooLong = length > MAX_LENGTH;
  const canSend = text.trim() !== '' && !tooLong && handle.phase !== 'loading' && !sending;

  /** Focuses the field before the focused element is removed, but not on touch devices: that would open the keyboard. */
  function focusField() {
    if (!touch) field.current?.focus();
  }

  async function submit() {
    if (!canSend) return;
    const message = text.trim();
    setSendError(null);
    setSending(true);
    const sent = startSending(handle.id);
    focusField();
    try {
      await handle.send(message);
      confirmSent(sent);
    } catch (error) {
      restoreDraft(sent, shownSession.current);
      setSendError(sendErrorOf(error));
    } finally {
      setSending(false);
    }
  }

  function stop() {
    handle.stop();
    focusField();
  }

  function closeSendError() {
    setSendError(null);
    focusField();
  }

  function onKeyDown(event: KeyboardEvent) {
    if (event.key !== 'Enter' || event.shiftKey || touch) return;
    // While an input method is composing, Enter confirms the word. Safari reports this only by the legacy key code 229.
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
        onEdit={(chip) => {
          handle.dropFollowUp(chip.id);
          putDraft(handle.id, joinTexts(chip.text, text));
        }}
      />
      {sendError && <SendErrorNotice sendError={sendError} onClose={closeSendError} />}
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
          placeholder={handle.busy ? 'Send a follow-up…' : 'Message Pilothouse…'}
          enterKeyHint={touch ? 'enter' : 'send'}
          className="field-sizing-content block max-h-[40dvh] min-h-10 min-w-0 flex-1 resize-none bg-transparent px-3 py-2 text-base leading-6 outline-none placeholder:text-muted"
        />
        {handle.busy && <StopButton stopping={handle.phase === 'stopping'} onStop={stop} />}
        {(!handle.busy || text.trim() !== '') && (
          <SendButton followUp={handle.busy} disabled={!canSend} sending={sending} />
        )}
      </div>
      <Counter length={length} limit={MAX_LENGTH} warnAt={COUNTER_FROM} />
    </form>
  );
}
