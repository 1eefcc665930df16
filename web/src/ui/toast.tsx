// Short news at the edge of the screen, also for those who listen to it.

import { Toast } from 'radix-ui';
import { useSyncExternalStore } from 'react';
import type { Tone } from './badge';
import { classes } from './classes';

type News = { id: number; text: string; tone: Tone };

let news: News[] = [];
let next = 1;
const listeners = new Set<() => void>();

export function say(text: string, tone: Tone = 'neutral'): void {
  set([...news.slice(-2), { id: next++, text, tone }]);
}

export function Toaster() {
  const shown = useSyncExternalStore(subscribe, () => news);
  return (
    <Toast.Provider duration={5000} swipeDirection="right">
      {shown.map((one) => (
        <Toast.Root
          key={one.id}
          onOpenChange={(open) => !open && set(news.filter((other) => other.id !== one.id))}
          className={classes(
            'rounded-xl border bg-raised px-4 py-3 text-sm shadow-card',
            one.tone === 'bad'
              ? 'border-bad/40 text-bad'
              : one.tone === 'good'
                ? 'border-good/40'
                : 'border-line',
          )}
        >
          <Toast.Description>{one.text}</Toast.Description>
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

function set(changed: News[]): void {
  news = changed;
  for (const listener of listeners) listener();
}
