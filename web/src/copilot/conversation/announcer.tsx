import { useEffect, useRef, useState } from 'react';
import type { SessionHandle } from '@/session/types';
import { wordsOf } from './blocks';

const SPOKEN = 2_000;

const CUT = 'Connection lost, trying again.';
const SLOW = 'Still waiting for an answer.';

/**
 * Says what happens to those who listen, in a place that is always there: what comes into the page together with its
 * words is often not read out. A finished answer is read as a whole; token by token nobody could follow it.
 */
export function Announcer({ handle }: { handle: SessionHandle }) {
  const [ending, setEnding] = useState('');
  const wasBusy = useRef(handle.busy);
  const { busy, messages, error, phase, slow } = handle;
  useEffect(() => {
    if (wasBusy.current && !busy) {
      const last = messages.at(-1);
      const words = last?.role === 'assistant' ? wordsOf(last) : '';
      setEnding(
        error ? `The turn failed. ${error.message}` : words.slice(0, SPOKEN) || 'The turn has ended.',
      );
    } else if (busy) setEnding('');
    wasBusy.current = busy;
  }, [busy, messages, error]);
  return (
    <div role="status" className="sr-only">
      {phase === 'reconnecting' ? CUT : slow ? SLOW : ending}
    </div>
  );
}
