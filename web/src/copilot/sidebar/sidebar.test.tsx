import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { SessionSummary } from '@/protocol';
import { noConnection, refusal, serve } from '@/testing/fake-server';
import { showAt } from '@/testing/show-at';
import { Toaster } from '@/ui/feedback/toast';
import { Sidebar } from './sidebar';

const LIST = 'GET /api/chat/sessions';
const NOW = new Date().toISOString();

function session(id: string, more: Partial<SessionSummary> = {}): SessionSummary {
  return {
    id,
    title: `Title ${id}`,
    created_at: NOW,
    updated_at: NOW,
    chat_status: 'idle',
    is_processing: false,
    is_pinned: false,
    parent_session_id: null,
    ...more,
  };
}

const listOf = (...sessions: SessionSummary[]) => ({ sessions, total: sessions.length });

let wide = true;

beforeEach(() => {
  localStorage.clear();
  wide = true;
  vi.stubGlobal('matchMedia', () => ({ matches: wide, addEventListener() {}, removeEventListener() {} }));
  vi.stubGlobal(
    'IntersectionObserver',
    class {
      observe() {}
      disconnect() {}
    },
  );
});
afterEach(() => vi.unstubAllGlobals());

function open(activeId: string | null = null, drawer = false, onClose = () => {}, busy = false) {
  const { router } = showAt({
    path: '/copilot',
    address: `/copilot?sessionId=${activeId ?? ''}`,
    component: () => <Sidebar activeId={activeId} activeBusy={busy} open={drawer} onClose={onClose} />,
    beside: <Toaster />,
  });
  return router;
}

async function choose(title: string, action: string) {
  await userEvent.click(await screen.findByRole('button', { name: `Actions for ${title}` }));
  await userEvent.click(await screen.findByRole('menuitem', { name: action }));
}

test('sessions are links that show which is open, which is running and which is a sub-session', async () => {
  serve({
    [LIST]: () =>
      listOf(session('a', { is_processing: true }), session('b', { parent_session_id: 'a' }), session('c')),
  });
  open('c');
  const running = await screen.findByRole('link', { name: /Title a/ });
  expect(within(running).getByRole('img', { name: 'Running' })).toBeTruthy();
  expect(screen.getByRole('link', { name: 'Title c' }).getAttribute('aria-current')).toBe('page');
  expect(within(screen.getByRole('link', { name: /Title b/ })).getByLabelText('Sub-session')).toBeTruthy();
});

test('the open session is shown as running as soon as the page knows', async () => {
  serve({ [LIST]: () => listOf(session('a')) });
  open('a', false, () => {}, true);
  expect(await screen.findByRole('img', { name: 'Running' })).toBeTruthy();
});

test('a session that changed since it was last shown is unread', async () => {
  const later = new Date(Date.now() + 60_000).toISOString();
  localStorage.setItem('pilothouse.seen', JSON.stringify({ until: Date.parse(NOW), sessions: {} }));
  // The page read the stored state before this test began; a storage event makes it read again.
  dispatchEvent(new StorageEvent('storage', { key: 'pilothouse.seen' }));
  serve({ [LIST]: () => listOf(session('a', { updated_at: later }), session('b')) });
  open();
  const changed = await screen.findByRole('link', { name: /Title a/ });
  expect(within(changed).getByRole('img', { name: 'Unread' })).toBeTruthy();
  expect(within(screen.getByRole('link', { name: 'Title b' })).queryByRole('img')).toBeNull();
});

test('a new title is shown at once and sent', async () => {
  let title = 'Title a';
  const asked = serve({
    [LIST]: () => listOf(session('a', { title })),
    'PATCH /api/chat/sessions/a/title': ({ body }) => {
      title = (body as { title: string }).title;
      return {};
    },
  });
  open();
  await choose('Title a', 'Rename');
  const field = await screen.findByRole('textbox', { name: 'Title' });
  await userEvent.clear(field);
  await userEvent.type(field, ' Better {Enter}');
  expect(await screen.findByRole('link', { name: 'Better' })).toBeTruthy();
  await waitFor(() =>
    expect(asked.find(({ route }) => route.startsWith('PATCH'))?.body).toEqual({ title: 'Better' }),
  );
});

test('a refused change is rolled back, and the reason is shown', async () => {
  serve({
    [LIST]: () => listOf(session('a')),
    'PATCH /api/chat/sessions/a/pinned': () => refusal(404, 'NOT_FOUND', 'Chat not found.'),
  });
  open();
  await choose('Title a', 'Pin');
  expect(await screen.findByText("Couldn't pin or unpin the chat. Chat not found.")).toBeTruthy();
  expect(screen.queryByRole('region', { name: 'Pinned' })).toBeNull();
  expect(screen.getByRole('link', { name: 'Title a' })).toBeTruthy();
});

test('deleting the open session asks for confirmation and opens a new chat', async () => {
  let sessions = [session('a'), session('b')];
  serve({
    [LIST]: () => listOf(...sessions),
    'DELETE /api/chat/sessions/a': () => {
      sessions = [session('b')];
      return new Response(null, { status: 204 });
    },
  });
  const router = open('a');
  await choose('Title a', 'Delete');
  expect(sessions).toHaveLength(2);
  await userEvent.click(await screen.findByRole('button', { name: 'Delete' }));
  await waitFor(() => expect(screen.queryByRole('link', { name: 'Title a' })).toBeNull());
  await waitFor(() => expect(router.state.location.search).toEqual({}));
  expect(screen.getByRole('link', { name: 'Title b' })).toBeTruthy();
});

test('older sessions are loaded page by page', async () => {
  const all = [session('new'), session('middle'), session('old')];
  serve({
    [LIST]: ({ query }) => {
      const from = Number(query.get('offset'));
      return { sessions: all.slice(from, from + 2), total: all.length };
    },
  });
  open();
  await screen.findByRole('link', { name: 'Title middle' });
  expect(screen.queryByRole('link', { name: 'Title old' })).toBeNull();
  await userEvent.click(screen.getByRole('button', { name: 'Load older chats' }));
  expect(await screen.findByRole('link', { name: 'Title old' })).toBeTruthy();
  expect(screen.queryByRole('button', { name: 'Load older chats' })).toBeNull();
});

test('the arrow keys move from the search field through the sessions', async () => {
  serve({ [LIST]: () => listOf(session('a'), session('b')) });
  open();
  const first = await screen.findByRole('link', { name: 'Title a' });
  await userEvent.keyboard('{Control>}k{/Control}');
  await waitFor(() => expect(document.activeElement).toBe(screen.getByRole('searchbox')));
  await userEvent.keyboard('{ArrowDown}');
  expect(document.activeElement).toBe(first);
  await userEvent.keyboard('{ArrowDown}');
  expect(document.activeElement).toBe(screen.getByRole('link', { name: 'Title b' }));
  await userEvent.keyboard('{ArrowDown}{Home}');
  expect(document.activeElement).toBe(first);
});

test('a search without results says so', async () => {
  serve({
    [LIST]: ({ query }) => (query.get('search') ? listOf() : listOf(session('a'))),
  });
  open();
  await screen.findByRole('link', { name: 'Title a' });
  await userEvent.type(screen.getByRole('searchbox'), 'zebra');
  expect(await screen.findByText('No chats found.')).toBeTruthy();
  await userEvent.keyboard('{Escape}');
  expect(await screen.findByRole('link', { name: 'Title a' })).toBeTruthy();
});

test('an unreachable server is reported, and can be retried', async () => {
  let away = true;
  serve({ [LIST]: () => (away ? noConnection() : listOf(session('a'))) });
  open();
  expect((await screen.findByRole('alert')).textContent).toContain("Can't reach the server.");
  away = false;
  await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
  expect(await screen.findByRole('link', { name: 'Title a' })).toBeTruthy();
});

test('on a narrow screen the list is a drawer that closes when a link is followed', async () => {
  wide = false;
  const onClose = vi.fn();
  serve({ [LIST]: () => listOf(session('a')) });
  open(null, true, onClose);
  const drawer = await screen.findByRole('dialog', { name: 'Chats' });
  await userEvent.click(await within(drawer).findByRole('link', { name: 'Title a' }));
  expect(onClose).toHaveBeenCalled();
});

test('an empty list says what it is for', async () => {
  serve({ [LIST]: () => listOf() });
  open();
  expect(await screen.findByText('Your chats will appear here.')).toBeTruthy();
});
