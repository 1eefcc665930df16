import { X } from 'lucide-react';
import { type ReactNode, useId, useRef } from 'react';
import { IconButton } from '../buttons/button';
import { useModal } from './use-modal';

type Props = {
  title: string;
  open: boolean;
  onClose: () => void;
  children: ReactNode;
  /** Buttons at the bottom, the primary one last. */
  actions?: ReactNode;
};

/** A native modal dialog: it traps the focus, closes on Escape and restores the focus. */
export function Dialog({ title, open, onClose, children, actions }: Props) {
  const ref = useModal(open);
  const heading = useId();
  // Where the press began: a text selection that ends outside the dialog doesn't close it.
  const pressed = useRef<EventTarget | null>(null);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a press on the backdrop; the keyboard has Escape.
    <dialog
      ref={ref}
      aria-labelledby={heading}
      onClose={onClose}
      onPointerDown={(event) => {
        pressed.current = event.target;
      }}
      onClick={(event) => {
        if (event.target === ref.current && pressed.current === ref.current) onClose();
      }}
      className="m-auto w-[min(32rem,calc(100vw-2rem))] rounded-2xl border border-line bg-raised p-0 text-ink shadow-card backdrop:bg-black/50"
    >
      {open && (
        <div className="flex max-h-[85dvh] flex-col">
          <header className="flex items-center justify-between gap-4 px-5 pt-4">
            <h2 id={heading} className="text-lg font-semibold">
              {title}
            </h2>
            <IconButton label="Close" onClick={onClose}>
              <X className="size-5" />
            </IconButton>
          </header>
          <div className="overflow-y-auto px-5 py-4">{children}</div>
          {actions && <footer className="flex flex-wrap justify-end gap-2 px-5 pb-5">{actions}</footer>}
        </div>
      )}
    </dialog>
  );
}
