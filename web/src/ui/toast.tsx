// Short notifications at the edge of the screen, which screen readers announce.

import { Toast } from 'radix-ui';
import { useSyncExternalStore } from 'react';
import type { Tone } from './badge';
import { classes } from './classes';

type ToastMessage = { id: number; text: string; tone: Tone };

let messages: ToastMessage[] = [];
let nextId = 1;
const listeners = new Set<() => void>();

export function showToast(text: string, tone: Tone = 'neutral'): void {
  set([...messages.slice(-2), { id: nextId++, text, tone }]);
}

export function Toaster() {
  const shown = useSyncExternalStore(subscribe, () => messages);
  return (
    <Toast.Provider duration={5000} swipeDirection="right">
      {shown.map((message) => (
        <Toast.Root
          key={message.id}
          onOpenChange={(open) => !open && set(messages.filter((other) => other.id !== message.id))}
          className={classes(
            'rounded-xl border bg-raised px-4 py-3 text-sm shadow-card',
            message.tone === 'bad'
              ? 'border-bad/40 text-bad'
              : message.tone === 'good'
                ? 'border-good/40'
                : 'border-line',
          )}
        >
          <Toast.Description>{message.text}</Toast.Description>
        </Toast.Root>
      ))}
      <Toast.Viewport className="fixed right-4 bottom-4 z-50 flex w-80 max-w-[calc(100vw-2rem)] flex-col gap-2 outline-none" />
    </Toast.Provider>
  );
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function set(next: ToastMessage[]): void {
  messages = next;
  for (const listener of listeners) listener();
}
