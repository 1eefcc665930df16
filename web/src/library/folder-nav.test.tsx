import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from '@tanstack/react-router';
import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, it, vi } from 'vitest';
import type { FolderNode } from '@/protocol';
import { serve, show } from '@/testing/fake-server';
import { FolderNav } from './folder-nav';

const folder = (id: string, children: FolderNode[] = []): FolderNode => ({
  id,
  name: id,
  created_at: '',
  updated_at: '',
  agent_count: 0,
  subfolder_count: children.length,
  children,
});

/** The library as far as its folders go, with one of them open. */
function showLibrary(open: string) {
  const root = createRootRoute();
  const library = createRoute({
    getParentRoute: () => root,
    path: '/library',
    validateSearch: (search): { folder?: string } => search,
    component: () => <FolderNav chosen={library.useSearch().folder} />,
  });
  const router = createRouter({
    routeTree: root.addChildren([library]),
    history: createMemoryHistory({ initialEntries: [`/library?folder=${open}`] }),
  });
  // The links belong to the router of the app, whose type is the registered one.
  show(<RouterProvider router={router as never} />);
  return router;
}

afterEach(() => vi.unstubAllGlobals());

it.each([
  ['leaves the one that went with it', 'inner', {}],
  ['stays in another', 'other', { folder: 'other' }],
])('deleting a folder %s', async (_, open, then) => {
  let tree = [folder('outer', [folder('inner')]), folder('other')];
  serve({
    'GET /api/library/folders/tree': () => ({ tree }),
    'DELETE /api/library/folders/outer': () => {
      tree = tree.slice(1);
      return {};
    },
  });
  const router = showLibrary(open);
  await userEvent.click(await screen.findByRole('button', { name: 'More about the folder outer' }));
  await userEvent.click(await screen.findByRole('menuitem', { name: 'Delete' }));
  await userEvent.click(await screen.findByRole('button', { name: 'Delete' }));
  await waitFor(() => expect(screen.queryByText('outer')).toBeNull());
  await waitFor(() => expect(router.state.location.search).toEqual(then));
});
