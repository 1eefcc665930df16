// Waits for a pause in typing, so that not every keystroke sends a request.

import { useCallback, useEffect, useRef, useState } from 'react';

const TYPING_MS = 200;

/** A function that runs the latest action it was given once there is a pause, unless the component is unmounted. */
export function useDebounce(): (action: () => void) => void {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  return useCallback((action) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(action, TYPING_MS);
  }, []);
}

/** The text as of the latest pause. An empty text is returned at once. */
export function useDebouncedText(text: string): string {
  const [debounced, setDebounced] = useState(text);
  const debounce = useDebounce();
  useEffect(() => debounce(() => setDebounced(text)), [text, debounce]);
  return text === '' ? '' : debounced;
}
