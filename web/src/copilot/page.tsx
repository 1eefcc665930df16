import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { CornerLeftUp, MessageCircleOff, PanelLeft } from 'lucide-react';
import { lazy, Suspense, useEffect, useState } from 'react';
import { isNotFound } from '@/api/problem';
import type { SessionHandle } from '@/session/types';
import { useSession } from '@/session/use-session';
import { TOOLS_QUERY } from '@/tools/tools-query';
import { buttonClasses, IconButton } from '@/ui/buttons/button';
import { useTitle } from '@/ui/page/page';
import { Empty, Failure } from '@/ui/page/states';
import { Composer } from './composer/composer';
import { putDraft } from './composer/drafts';
import { LoadingConversation } from './conversation/conversation-loading';
import { EmptySession } from './empty/empty-session';
import { Sidebar } from './sidebar/sidebar';
import { SESSIONS_KEY } from './sidebar/use-sessions';

/** Loaded along with the history, or while the first message is typed: a new chat doesn't need it. */
const Conversation = lazy(loadConversation);

/** The copilot page: the list of chats, and one chat. */
export function CopilotPage() {
  const { sessionId, prompt } = useSearch({ from: '/copilot' });
  const handle = useSession(sessionId ?? null);
  const [open, setOpen] = useState(false);
  useTitle(handle.title ?? 'Copilot');
  useSessionUrl(handle, sessionId);
  useRefreshList(handle);
  usePreloadedTools(sessionId);
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
      <section aria-label="Chat" className="flex min-w-0 flex-1 flex-col">
        <Header handle={handle} onMenu={() => setOpen(true)} />
        <ChatBody handle={handle} />
        {/* Above the faded edge of the conversation. */}
        {!isMissing(handle) && (
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
      <IconButton label="Chats" className="md:hidden" onClick={onMenu}>
        <PanelLeft aria-hidden className="size-5" />
      </IconButton>
      {handle.parentId && (
        <Link
          to="/copilot"
          search={{ sessionId: handle.parentId }}
          className={buttonClasses('quiet', 'small')}
          title="Open the chat that started this one"
        >
          <CornerLeftUp aria-hidden className="size-4" />
          Parent chat
        </Link>
      )}
      {handle.id && !isMissing(handle) && (
        <h1 className="min-w-0 flex-1 truncate text-sm font-medium text-muted">
          {handle.title ?? (handle.phase === 'loading' ? '' : 'New chat')}
        </h1>
      )}
    </header>
  );
}

function ChatBody({ handle }: { handle: SessionHandle }) {
  const { loadError, messages, phase } = handle;
  if (isMissing(handle) || (loadError && messages.length === 0)) return <LoadFailure handle={handle} />;
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

/** The session was deleted, perhaps in another window, or never existed. */
function isMissing({ loadError }: SessionHandle): boolean {
  return isNotFound(loadError);
}

function LoadFailure({ handle }: { handle: SessionHandle }) {
  return (
    <div className="min-h-0 flex-1 overflow-y-auto">
      <div className="mx-auto w-full max-w-3xl px-4 py-6">
        {isMissing(handle) ? (
          <Empty
            icon={<MessageCircleOff />}
            title="Chat not found"
            action={
              <Link to="/copilot" search={{}} className={buttonClasses('primary')}>
                New chat
              </Link>
            }
          >
            It may have been deleted, or you may not have access.
          </Empty>
        ) : (
          <Failure title="Couldn't load this chat" error={handle.loadError} onRetry={handle.reload} />
        )}
      </div>
    </div>
  );
}

/** Puts the id of a new session into the URL. The prompt from the URL is used up then. */
function useSessionUrl(handle: SessionHandle, shown: string | undefined): void {
  const navigate = useNavigate();
  useEffect(() => {
    if (handle.id && shown === undefined) {
      navigate({ to: '/copilot', search: { sessionId: handle.id }, replace: true });
    }
  }, [handle.id, shown, navigate]);
}

/** Refreshes the list of chats as soon as a turn starts or ends. */
function useRefreshList({ id, busy, title }: SessionHandle): void {
  const client = useQueryClient();
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change of these is news for the list.
  useEffect(() => {
    client.invalidateQueries({ queryKey: SESSIONS_KEY });
  }, [client, id, busy, title]);
}

/** Loads the labels of tool calls beside the history, and once more with the next chat if that failed. */
function usePreloadedTools(shown: string | undefined): void {
  const client = useQueryClient();
  // biome-ignore lint/correctness/useExhaustiveDependencies: opening a chat tries again.
  useEffect(() => {
    void client.prefetchQuery(TOOLS_QUERY);
  }, [client, shown]);
}

async function loadConversation() {
  return { default: (await import('./conversation/conversation')).Conversation };
}
