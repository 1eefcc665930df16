import { useEffect, useRef, useState } from 'react';
import type { SessionHandle } from '@/session/types';
import { wordsOf } from './blocks';

const SPOKEN = 2_000;

/** Reads a finished answer out to those who listen; token by token nobody could follow it. */
export function Announcer({ handle }: { handle: SessionHandle }) {
  const [text, setText] = useState('');
  const wasBusy = useRef(handle.busy);
  const { busy, messages, error } = handle;
  useEffect(() => {
    if (wasBusy.current && !busy) {
      const last = messages.at(-1);
      const words = last?.role === 'assistant' ? wordsOf(last) : '';
      setText(error ? `The turn failed. ${error.message}` : words.slice(0, SPOKEN) || 'The turn has ended.');
    } else if (busy) setText('');
    wasBusy.current = busy;
  }, [busy, messages, error]);
  return (
    <div role="status" className="sr-only">
      {text}
    </div>
  );
}
