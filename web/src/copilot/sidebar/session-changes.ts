// Renaming, pinning and deleting: shown at once, and taken back when the server refuses.

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, dataOf } from '@/api/client';
import { wordsOf } from '@/api/problem';
import type { SessionSummary } from '@/protocol';
import { discardSession } from '@/session/registry';
import { say } from '@/ui/toast';
import { SESSIONS, type SessionPages } from './sessions';

type Change =
  | { kind: 'rename'; id: string; title: string }
  | { kind: 'pin'; id: string; pinned: boolean }
  | { kind: 'remove'; id: string };

const FAILED = {
  rename: 'The session was not renamed.',
  pin: 'The session was not moved.',
  remove: 'The session was not deleted.',
};

export function useSessionChange() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ask,
    onMutate: async (change: Change) => {
      // An answer that is on its way would show the old state again for a moment.
      await client.cancelQueries({ queryKey: SESSIONS });
      const before = client.getQueriesData<SessionPages>({ queryKey: SESSIONS });
      client.setQueriesData<SessionPages>({ queryKey: SESSIONS }, (pages) => pages && changed(pages, change));
      return { before };
    },
    onError: (error, change, context) => {
      for (const [key, pages] of context?.before ?? []) client.setQueryData(key, pages);
      say(`${FAILED[change.kind]} ${wordsOf(error)}`, 'bad');
    },
    onSuccess: (_, change) => {
      if (change.kind === 'remove') discardSession(change.id);
    },
    onSettled: () => client.invalidateQueries({ queryKey: SESSIONS }),
  });
}

async function ask(change: Change): Promise<void> {
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

function changed(pages: SessionPages, change: Change): SessionPages {
  return {
    ...pages,
    pages: pages.pages.map((page) => ({
      ...page,
      sessions: page.sessions.flatMap((session) =>
        session.id === change.id ? after(session, change) : [session],
      ),
    })),
  };
}

function after(session: SessionSummary, change: Change): SessionSummary[] {
  switch (change.kind) {
    case 'rename':
      return [{ ...session, title: change.title }];
    case 'pin':
      return [{ ...session, is_pinned: change.pinned }];
    case 'remove':
      return [];
  }
}
