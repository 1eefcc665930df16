import { useEffect, useRef, useState } from 'react';
import { useDebounce } from '@/lib/use-debounced';

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
  const debounce = useDebounce();

  useEffect(() => {
    if (inAddress === pushed.current) return;
    pushed.current = inAddress;
    setTyped(inAddress ?? '');
  }, [inAddress]);

  function type(text: string) {
    setTyped(text);
    debounce(() => {
      pushed.current = text.trim() || undefined;
      push(pushed.current);
    });
  }
  return [typed, type];
}
