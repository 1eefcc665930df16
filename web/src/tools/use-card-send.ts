import { useAttempt } from '@/ui/form/use-attempt';
import { useCardState } from './card-state';
import { useCardActions } from './types';

export type CardSend = {
  /** The message this card has sent, or null. */
  sent: string | null;
  sending: boolean;
  /** Why the last attempt failed. */
  error: string | null;
  /** Never rejects: a failure is reported in `error`, and the user's input is kept. */
  submit: (text: string) => Promise<boolean>;
};

/** Sends one chat message for a card. `name` must be unique to the card. */
export function useCardSend(name: string): CardSend {
  const { send } = useCardActions();
  const [sent, setSent] = useCardState<string | null>(`${name} sent`, null);
  const { busy: sending, problem: error, attempt } = useAttempt();
  const submit = async (text: string): Promise<boolean> => {
    if (sending) return false;
    return attempt(async () => {
      await send(text);
      setSent(text);
    });
  };
  return { sent, sending, error, submit };
}
