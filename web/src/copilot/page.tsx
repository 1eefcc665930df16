import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { CornerLeftUp, MessageCircleOff, PanelLeft } from 'lucide-react';
import { lazy, Suspense, useEffect, useState } from 'react';
import { ApiError } from '@/api/problem';
import type { SessionHandle } from '@/session/types';
import { useSession } from '@/session/use-session';
import { buttonClasses, IconButton } from '@/ui/button';
import { useTitle } from '@/ui/page';
import { Empty, Failure } from '@/ui/states';
import { Composer } from './composer/composer';
import { putDraft } from './composer/drafts';
import { LoadingConversation } from './conversation/loading';
import { EmptySession } from './empty/empty-session';
import { SESSIONS } from './sidebar/sessions';
import { Sidebar } from './sidebar/sidebar';

/** Loaded beside the history, or while a first message is written: a new chat is there without it. */
const Conversation = lazy(loadConversation);

/** The copilot: the sessions beside, and one of them. */
export function CopilotPage() {
  const { sessionId, prompt } = useSearch({ from: '/copilot' });
  const handle = useSession(sessionId ?? null);
  const [open, setOpen] = useState(false);
  useTitle(handle.title ?? 'Copilot');
  useAddress(handle, sessionId);
  useFreshList(handle);
  useEffect(() => void loadConversation(), []);
  return (
    <div className="flex h-full">
      <Sidebar
        activeId={handle.id}
        activeBusy={handle.busy}
        open={open}
        onOpen={() => setOpen(true)}
        onClose={() => setOpen(false)}
      />
      <section aria-label="Session" className="flex min-w-0 flex-1 flex-col">
        <Header handle={handle} onMenu={() => setOpen(true)} />
        <Middle handle={handle} />
        {/* Above the fading edge of the conversation. */}
        {!isGone(handle) && (
          <div className="relative z-10">
            <Composer key={handle.key} handle={handle} initialText={prompt} />
          </div>
        )}
      </section>
    </div>
  );
}

function Header({ handle, onMenu }: { handle: SessionHandle; onMenu: () => void }) {
  return (
    <header className="flex min-h-12 shrink-0 items-center gap-2 px-2 sm:px-4">
      <IconButton label="Sessions" className="md:hidden" onClick={onMenu}>
        <PanelLeft aria-hidden className="size-5" />
      </IconButton>
      {handle.parentId && (
        <Link
          to="/copilot"
          search={{ sessionId: handle.parentId }}
          className={buttonClasses('quiet', 'small')}
          title="The session whose turn started this one"
        >
          <CornerLeftUp aria-hidden className="size-4" />
          Parent session
        </Link>
      )}
      {handle.id && !isGone(handle) && (
        <h1 className="min-w-0 flex-1 truncate text-sm font-medium text-muted">
          {handle.title ?? (handle.phase === 'loading' ? '' : 'Untitled session')}
        </h1>
      )}
    </header>
  );
}

function Middle({ handle }: { handle: SessionHandle }) {
  const { loadError, messages, phase } = handle;
  if (isGone(handle) || (loadError && messages.length === 0)) return <Unreadable handle={handle} />;
  if (phase === 'loading' && messages.length === 0) return <LoadingConversation />;
  if (messages.length === 0 && !handle.busy) {
    return (
      <div className="min-h-0 flex-1 overflow-y-auto">
        <EmptySession onPick={(text) => putDraft(handle.id, text)} />
      </div>
    );
  }
  return (
    <Suspense fallback={<LoadingConversation />}>
      <Conversation key={handle.key} handle={handle} />
    </Suspense>
  );
}

/** It was deleted, perhaps in another window, or was never there. */
function isGone({ loadError }: SessionHandle): boolean {
  return loadError instanceof ApiError && loadError.status === 404;
}

function Unreadable({ handle }: { handle: SessionHandle }) {
  return (
    <div className="min-h-0 flex-1 overflow-y-auto">
      <div className="mx-auto w-full max-w-3xl px-4 py-6">
        {isGone(handle) ? (
          <Empty
            icon={<MessageCircleOff />}
            title="There is no such session"
            action={
              <Link to="/copilot" search={{}} className={buttonClasses('primary')}>
                New chat
              </Link>
            }
          >
            It was deleted, or it belongs to somebody else.
          </Empty>
        ) : (
          <Failure title="The session cannot be read" error={handle.loadError} onRetry={handle.reload} />
        )}
      </div>
    </div>
  );
}

/** The address of a conversation that has just got its id. The prompt it may have come with is used up then. */
function useAddress(handle: SessionHandle, shown: string | undefined): void {
  const navigate = useNavigate();
  useEffect(() => {
    if (handle.id && shown === undefined) {
      navigate({ to: '/copilot', search: { sessionId: handle.id }, replace: true });
    }
  }, [handle.id, shown, navigate]);
}

/** The list beside it hears at once when a turn starts or ends. */
function useFreshList({ id, busy, title }: SessionHandle): void {
  const client = useQueryClient();
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change of these is news for the list.
  useEffect(() => {
    client.invalidateQueries({ queryKey: SESSIONS });
  }, [client, id, busy, title]);
}

async function loadConversation() {
  return { default: (await import('./conversation/conversation')).Conversation };
}
