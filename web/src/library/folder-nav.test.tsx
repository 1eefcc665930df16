import { useSearch } from '@tanstack/react-router';
import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, it, vi } from 'vitest';
import { serve } from '@/testing/fake-server';
import { showAt } from '@/testing/show-at';
import { FolderNav } from './folder-nav';
import { folder } from './testing/folder';

/** The library with only its folders. */
function Library() {
  return <FolderNav chosen={useSearch({ strict: false }).folder} />;
}

afterEach(() => vi.unstubAllGlobals());

it.each([
  ['closes the open subfolder', 'inner', {}],
  ['keeps another folder open', 'other', { folder: 'other' }],
])('deleting a folder %s', async (_, open, then) => {
  let tree = [folder('outer', [folder('inner')]), folder('other')];
  serve({
    'GET /api/library/folders/tree': () => ({ tree }),
    'DELETE /api/library/folders/outer': () => {
      tree = tree.slice(1);
      return {};
    },
  });
  const address = `/library?folder=${open}`;
  const { router } = showAt({ path: '/library', address, component: Library });
  await userEvent.click(await screen.findByRole('button', { name: 'Actions for folder outer' }));
  await userEvent.click(await screen.findByRole('menuitem', { name: 'Delete' }));
  await userEvent.click(await screen.findByRole('button', { name: 'Delete' }));
  await waitFor(() => expect(screen.queryByText('outer')).toBeNull());
  await waitFor(() => expect(router.state.location.search).toEqual(then));
});
