import { useNavigate } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import type { SessionSummary } from '@/protocol';
import { LoadMore } from '@/ui/page/load-more';
import { Failure, Skeleton } from '@/ui/page/states';
import { markFirstVisit, markSeen } from './seen-sessions';
import { useSessionChange } from './session-changes';
import { DeleteDialog, RenameDialog } from './session-dialogs';
import { SessionGroups } from './session-groups';
import type { RowActions } from './session-row';
import { useSessions } from './use-sessions';

type Props = { query: string; activeId: string | null; activeBusy: boolean; onLeave: () => void };

/** The sessions, all or those that match the search, with their actions. */
export function SessionList({ query, activeId, activeBusy, onLeave }: Props) {
  const list = useSessions(query, activeBusy ? activeId : null);
  const { mutate } = useSessionChange();
  const [renamed, setRenamed] = useState<SessionSummary | null>(null);
  const [removed, setRemoved] = useState<SessionSummary | null>(null);
  const navigate = useNavigate();
  useMarkSeen(list.sessions, list.isSuccess, activeId);
  const actions = useMemo<RowActions>(
    () => ({
      onOpen: onLeave,
      onRename: setRenamed,
      onPin: (session) => mutate({ kind: 'pin', id: session.id, pinned: !session.is_pinned }),
      onRemove: setRemoved,
    }),
    [onLeave, mutate],
  );

  return (
    <div className="relative min-h-0 flex-1 overflow-y-auto px-3 pt-1 pb-3" aria-busy={list.isPending}>
      {list.isPending && <LoadingRows />}
      {list.error && (
        <Failure title="Couldn't refresh the chat list" error={list.error} onRetry={list.refetch} />
      )}
      {list.isSuccess && list.sessions.length === 0 && <EmptyList query={query} />}
      <SessionGroups sessions={list.sessions} activeId={activeId} actions={actions} />
      <LoadMore compact query={list} label="Load older chats" />
      <RenameDialog
        session={renamed}
        onClose={() => closeAndRefocus(renamed, setRenamed)}
        onDone={(title) => {
          if (renamed) mutate({ kind: 'rename', id: renamed.id, title });
          closeAndRefocus(renamed, setRenamed);
        }}
      />
      <DeleteDialog
        session={removed}
        onClose={() => closeAndRefocus(removed, setRemoved)}
        onDone={() => {
          if (removed) mutate({ kind: 'remove', id: removed.id });
          if (removed?.id === activeId) navigate({ to: '/copilot', search: {} });
          closeAndRefocus(removed && neighborOf(removed, list.sessions), setRemoved);
        }}
      />
    </div>
  );
}

/** The session that gets the focus after this one is deleted. */
function neighborOf(session: SessionSummary, list: SessionSummary[]): SessionSummary | null {
  const place = list.findIndex((one) => one.id === session.id);
  return list[place + 1] ?? list[place - 1] ?? null;
}

/** Closes a dialog. The menu that opened it is gone, so the focus returns to its session, or to a neighboring one. */
function closeAndRefocus(session: SessionSummary | null, set: (none: null) => void): void {
  set(null);
  requestAnimationFrame(() => {
    if (session && document.activeElement === document.body) {
      document.querySelector<HTMLElement>(`[data-session="${CSS.escape(session.id)}"]`)?.focus();
    }
  });
}

/** Marks the open session as seen while the page is visible. */
function useMarkSeen(sessions: SessionSummary[], known: boolean, activeId: string | null): void {
  useEffect(() => {
    if (!known) return;
    const mark = () => {
      markFirstVisit(sessions);
      const active = sessions.find((session) => session.id === activeId);
      if (active && document.visibilityState === 'visible') markSeen(active);
    };
    mark();
    document.addEventListener('visibilitychange', mark);
    return () => document.removeEventListener('visibilitychange', mark);
  }, [sessions, known, activeId]);
}

function EmptyList({ query }: { query: string }) {
  return (
    <p role="status" className="px-3 py-6 text-center text-sm text-muted">
      {query.trim() ? 'No chats found.' : 'Your chats will appear here.'}
    </p>
  );
}

const WIDTHS = ['w-40', 'w-52', 'w-36', 'w-48', 'w-44', 'w-32'];

function LoadingRows() {
  return (
    <div role="status" className="flex flex-col gap-4 px-3 py-2">
      <span className="sr-only">Loading chats…</span>
      {WIDTHS.map((width) => (
        <Skeleton key={width} className={`h-4 ${width}`} />
      ))}
    </div>
  );
}
