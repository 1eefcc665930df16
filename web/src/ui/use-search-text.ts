import { useEffect, useRef, useState } from 'react';

const TYPING_MS = 200;

/**
 * A search text that is also in the URL: updated here while typing, pushed to the URL when typing pauses, and read from
 * the URL when the user navigates back.
 */
export function useSearchText(
  inAddress: string | undefined,
  push: (words: string | undefined) => void,
): [string, (typed: string) => void] {
  const [typed, setTyped] = useState(inAddress ?? '');
  const pushed = useRef(inAddress);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);

  useEffect(() => {
    if (inAddress === pushed.current) return;
    pushed.current = inAddress;
    setTyped(inAddress ?? '');
  }, [inAddress]);
  useEffect(() => () => clearTimeout(timer.current), []);

  function type(text: string) {
    setTyped(text);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      pushed.current = text.trim() || undefined;
      push(pushed.current);
    }, TYPING_MS);
  }
  return [typed, type];
}
