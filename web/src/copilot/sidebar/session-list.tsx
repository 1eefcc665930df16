import { useNavigate } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import type { SessionSummary } from '@/protocol';
import { Failure, Skeleton } from '@/ui/states';
import { More } from './more';
import { markFirstVisit, markSeen } from './seen';
import { useSessionChange } from './session-changes';
import { DeleteDialog, RenameDialog } from './session-dialogs';
import { SessionGroups } from './session-groups';
import type { RowActions } from './session-row';
import { useSessions } from './sessions';

type Props = { words: string; activeId: string | null; activeBusy: boolean; onLeave: () => void };

/** The sessions that are there, or those that are looked for, and what can be done with each. */
export function SessionList({ words, activeId, activeBusy, onLeave }: Props) {
  const list = useSessions(words, activeBusy ? activeId : null);
  const { mutate } = useSessionChange();
  const [renamed, setRenamed] = useState<SessionSummary | null>(null);
  const [removed, setRemoved] = useState<SessionSummary | null>(null);
  const navigate = useNavigate();
  useMarks(list.sessions, list.isSuccess, activeId);
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
      {list.error && <Failure title="The list is not up to date" error={list.error} onRetry={list.refetch} />}
      {list.isSuccess && list.sessions.length === 0 && <Nothing words={words} />}
      <SessionGroups sessions={list.sessions} activeId={activeId} actions={actions} />
      {list.hasNextPage && <More busy={list.isFetchingNextPage} onMore={list.fetchNextPage} />}
      <RenameDialog
        session={renamed}
        onClose={() => finish(renamed, setRenamed)}
        onDone={(title) => {
          if (renamed) mutate({ kind: 'rename', id: renamed.id, title });
          finish(renamed, setRenamed);
        }}
      />
      <DeleteDialog
        session={removed}
        onClose={() => finish(removed, setRemoved)}
        onDone={() => {
          if (removed) mutate({ kind: 'remove', id: removed.id });
          if (removed?.id === activeId) navigate({ to: '/copilot', search: {} });
          finish(removed && neighbourOf(removed, list.sessions), setRemoved);
        }}
      />
    </div>
  );
}

/** Who has the focus after a session is gone. */
function neighbourOf(session: SessionSummary, list: SessionSummary[]): SessionSummary | null {
  const place = list.findIndex((one) => one.id === session.id);
  return list[place + 1] ?? list[place - 1] ?? null;
}

/** The menu the question came from is gone, so the focus goes back to its session, or to the one beside it. */
function finish(session: SessionSummary | null, set: (none: null) => void): void {
  set(null);
  requestAnimationFrame(() => {
    if (session && document.activeElement === document.body) {
      document.querySelector<HTMLElement>(`[data-session="${CSS.escape(session.id)}"]`)?.focus();
    }
  });
}

/** Remembers what is shown. A page nobody looks at shows nothing. */
function useMarks(sessions: SessionSummary[], known: boolean, activeId: string | null): void {
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

function Nothing({ words }: { words: string }) {
  return (
    <p role="status" className="px-3 py-6 text-center text-sm text-muted">
      {words.trim() ? 'No session has these words in its title.' : 'Your sessions will be listed here.'}
    </p>
  );
}

const WIDTHS = ['w-40', 'w-52', 'w-36', 'w-48', 'w-44', 'w-32'];

function LoadingRows() {
  return (
    <div role="status" className="flex flex-col gap-4 px-3 py-2">
      <span className="sr-only">Loading the sessions</span>
      {WIDTHS.map((width) => (
        <Skeleton key={width} className={`h-4 ${width}`} />
      ))}
    </div>
  );
}
