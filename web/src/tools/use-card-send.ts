import { useState } from 'react';
import { wordsOf } from '@/api/problem';
import { useRemembered } from './card-memory';
import { useCardActions } from './types';

export type CardSend = {
  /** What this card has sent, if it has. */
  sent: string | null;
  sending: boolean;
  /** Why the last one was not taken. */
  error: string | null;
  /** Never rejects: a refusal is `error`, and what was typed stays. */
  submit: (text: string) => Promise<boolean>;
};

/** Says something in the conversation for a card, once. `name` must be the card's own. */
export function useCardSend(name: string): CardSend {
  const { send } = useCardActions();
  const [sent, setSent] = useRemembered<string | null>(`${name} sent`, null);
  const [sending, setSending] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const submit = async (text: string): Promise<boolean> => {
    if (sending) return false;
    setSending(true);
    setError(null);
    try {
      await send(text);
      setSent(text);
      return true;
    } catch (refusal) {
      setError(wordsOf(refusal));
      return false;
    } finally {
      setSending(false);
    }
  };
  return { sent, sending, error, submit };
}
