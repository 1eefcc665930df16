// Short notifications at the edge of the screen, which screen readers announce.

import { Toast } from 'radix-ui';
import { Store, useStore } from '@/lib/store';
import { classes } from '../classes';
import type { Tone } from './badge';

type ToastMessage = { id: number; text: string; tone: Tone };

const messages = new Store<ToastMessage[]>([]);
let nextId = 1;

export function showToast(text: string, tone: Tone = 'neutral'): void {
  messages.set([...messages.get().slice(-2), { id: nextId++, text, tone }]);
}

export function Toaster() {
  const shown = useStore(messages);
  return (
    <Toast.Provider duration={5000} swipeDirection="right">
      {shown.map((message) => (
        <Toast.Root
          key={message.id}
          onOpenChange={(open) => !open && remove(message)}
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

function remove({ id }: ToastMessage): void {
  messages.set(messages.get().filter((message) => message.id !== id));
}
