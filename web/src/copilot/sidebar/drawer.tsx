import type { ReactNode } from 'react';
import { useModal } from '@/ui/dialog/use-modal';

type Props = { label: string; open: boolean; onClose: () => void; children: ReactNode };

/** A panel that slides in over the page. */
export function Drawer({ label, open, onClose, children }: Props) {
  const ref = useModal(open);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a press on the backdrop; the keyboard has Escape.
    <dialog
      ref={ref}
      aria-label={label}
      onClose={onClose}
      onClick={(event) => event.target === ref.current && onClose()}
      className="m-0 h-dvh max-h-none w-[min(20rem,85vw)] max-w-none border-r border-line bg-surface p-0 text-ink shadow-card backdrop:bg-black/50"
    >
      {open && children}
    </dialog>
  );
}
