import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from '@tanstack/react-router';
import { act, render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { refusal, serve } from '@/testing/fake-server';
import { BuildPage } from './build-page';

const graph = (version: number) => ({ id: 'g', version, name: `Tides ${version}`, nodes: [], links: [] });
const versions = [2, 1].map((version) => ({
  version,
  is_active: version === 2,
  created_at: '2026-11-16T12:00:00Z',
}));

/** The page with a graph of two versions; the second is the active one. */
function showPage(): QueryClient {
  const root = createRootRoute();
  const build = createRoute({
    getParentRoute: () => root,
    path: '/build',
    validateSearch: (search): { flowID?: string; flowVersion?: number } => search,
    component: BuildPage,
  });
  const router = createRouter({
    routeTree: root.addChildren([build]),
    history: createMemoryHistory({ initialEntries: ['/build?flowID=g'] }),
  });
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  render(
    <QueryClientProvider client={queries}>
      {/* The links belong to the router of the app, whose type is the registered one. */}
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
  return queries;
}

afterEach(() => vi.unstubAllGlobals());

describe('a graph over the whole page', () => {
  it('keeps the focus on the version picker while another version comes', async () => {
    let answer = () => {};
    serve({
      'GET /api/graphs/g': async ({ query }) => {
        if (query.get('version') !== '1') return graph(2);
        await new Promise<void>((resolve) => {
          answer = resolve;
        });
        return graph(1);
      },
      'GET /api/graphs/g/versions': () => versions,
      'GET /api/blocks': () => [],
    });
    showPage();
    const picker = await screen.findByRole<HTMLSelectElement>('combobox', { name: 'Version' });
    picker.focus();
    await userEvent.selectOptions(picker, '1');
    await waitFor(() => expect(picker.value).toBe('1'));
    expect(screen.getByRole('heading', { name: 'Tides 2' })).toBeTruthy();
    answer();
    await screen.findByRole('heading', { name: 'Tides 1' });
    expect(document.activeElement).toBe(picker);
  });

  it('stays when it cannot be read again', async () => {
    let isAway = false;
    const asked = serve({
      'GET /api/graphs/g': () => (isAway ? refusal(500, 'INTERNAL', 'Something broke.') : graph(2)),
      'GET /api/graphs/g/versions': () => versions,
      'GET /api/blocks': () => [],
    });
    const queries = showPage();
    await screen.findByRole('heading', { name: 'Tides 2' });
    isAway = true;
    const before = asked.length;
    await act(() => queries.invalidateQueries({ queryKey: ['graph', 'g', 'active'] }));
    expect(asked.length).toBe(before + 1);
    expect(screen.getByRole('heading', { name: 'Tides 2' })).toBeTruthy();
    expect(screen.queryByText('Something broke.')).toBeNull();
  });
});
