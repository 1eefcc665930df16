import { useNavigate } from '@tanstack/react-router';
import { useCallback, useEffect, useRef } from 'react';
import { useMedia } from '@/lib/use-media';
import { Drawer } from './drawer';
import { SessionColumn } from './session-column';

type Props = {
  activeId: string | null;
  /** A turn is running in the open session; the list may not know yet. */
  activeBusy?: boolean;
  /** On narrow screens the list is a drawer, which the page opens and closes. */
  open: boolean;
  onOpen?: () => void;
  onClose: () => void;
};

/** The list of sessions, with a link to a new chat. */
export function Sidebar({ activeId, activeBusy = false, open, onOpen, onClose }: Props) {
  const wide = useMedia('(min-width: 768px)');
  const search = useRef<HTMLInputElement>(null);
  const openDrawer = useLatest(onOpen);
  const closeDrawer = useLatest(onClose);
  useKeys(
    useCallback(() => {
      openDrawer();
      // The drawer has to be mounted before its content can be focused.
      requestAnimationFrame(() => search.current?.focus());
    }, [openDrawer]),
  );
  const column = (
    <SessionColumn
      activeId={activeId}
      activeBusy={activeBusy}
      search={search}
      inDrawer={!wide}
      onLeave={closeDrawer}
    />
  );
  if (!wide) {
    return (
      <Drawer label="Chats" open={open} onClose={onClose}>
        {column}
      </Drawer>
    );
  }
  return <div className="w-64 shrink-0 border-r border-line bg-surface lg:w-72">{column}</div>;
}

/** Ctrl+K or Cmd+K focuses the search, Ctrl+Shift+O or Cmd+Shift+O opens a new chat. */
function useKeys(onSearch: () => void): void {
  const navigate = useNavigate();
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
      const key = event.key.toLowerCase();
      if (key === 'k' && !event.shiftKey) onSearch();
      else if (key === 'o' && event.shiftKey) navigate({ to: '/copilot', search: {} });
      else return;
      event.preventDefault();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [navigate, onSearch]);
}

/** A stable function that calls the newest callback, so that memoized children aren't rendered again. */
function useLatest(call: (() => void) | undefined): () => void {
  const latest = useRef(call);
  latest.current = call;
  return useCallback(() => latest.current?.(), []);
}
