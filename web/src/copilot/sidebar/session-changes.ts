// Renames, pins and deletes sessions with optimistic updates, which are rolled back when the server refuses.

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, dataOf } from '@/api/client';
import { errorMessage } from '@/api/problem';
import type { SessionSummary } from '@/protocol';
import { discardSession } from '@/session/registry';
import { showToast } from '@/ui/feedback/toast';
import { SESSIONS_KEY, type SessionPages } from './use-sessions';

type Change =
  | { kind: 'rename'; id: string; title: string }
  | { kind: 'pin'; id: string; pinned: boolean }
  | { kind: 'remove'; id: string };

const FAILURE_MESSAGES = {
  rename: "Couldn't rename the chat.",
  pin: "Couldn't pin or unpin the chat.",
  remove: "Couldn't delete the chat.",
};

export function useSessionChange() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: sendChange,
    onMutate: async (change: Change) => {
      // A response that is still in flight would briefly show the old state.
      await client.cancelQueries({ queryKey: SESSIONS_KEY });
      const before = client.getQueriesData<SessionPages>({ queryKey: SESSIONS_KEY });
      client.setQueriesData<SessionPages>(
        { queryKey: SESSIONS_KEY },
        (pages) => pages && withChange(pages, change),
      );
      return { before };
    },
    onError: (error, change, context) => {
      for (const [key, pages] of context?.before ?? []) client.setQueryData(key, pages);
      showToast(`${FAILURE_MESSAGES[change.kind]} ${errorMessage(error)}`, 'bad');
    },
    onSuccess: (_, change) => {
      if (change.kind === 'remove') discardSession(change.id);
    },
    onSettled: () => client.invalidateQueries({ queryKey: SESSIONS_KEY }),
  });
}

async function sendChange(change: Change): Promise<void> {
  const params = { path: { session_id: change.id } };
  switch (change.kind) {
    case 'rename':
      await dataOf(
        api.PATCH('/api/chat/sessions/{session_id}/title', { params, body: { title: change.title } }),
      );
      break;
    case 'pin':
      await dataOf(
        api.PATCH('/api/chat/sessions/{session_id}/pinned', { params, body: { is_pinned: change.pinned } }),
      );
      break;
    case 'remove':
      await dataOf(api.DELETE('/api/chat/sessions/{session_id}', { params }));
  }
}

function withChange(pages: SessionPages, change: Change): SessionPages {
  return {
    ...pages,
    pages: pages.pages.map((page) => ({
      ...page,
      sessions: page.sessions.flatMap((session) =>
        session.id === change.id ? applyChange(session, change) : [session],
      ),
    })),
  };
}

function applyChange(session: SessionSummary, change: Change): SessionSummary[] {
  switch (change.kind) {
    case 'rename':
      return [{ ...session, title: change.title }];
    case 'pin':
      return [{ ...session, is_pinned: change.pinned }];
    case 'remove':
      return [];
  }
}
