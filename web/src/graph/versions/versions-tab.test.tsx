import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, it, vi } from 'vitest';
import { refusal, serve } from '@/testing/fake-server';
import { showAt } from '@/testing/show-at';
import { BuildPage } from '../build-page';
import { changedValue } from '../testing/fixtures';

type Sides = { from: { graph_version: number }; to: { graph_version: number } };

/** Serves an agent whose newest version is the active one; a restored version is added. */
function serveVersions(newest: number, routes: Parameters<typeof serve>[0] = {}) {
  let last = newest;
  const graph = (version: number) => ({
    id: 'g',
    version,
    is_active: version === last,
    name: `Tides ${version}`,
    nodes: [],
    links: [],
  });
  return serve({
    'GET /api/graphs/g': ({ query }) => graph(Number(query.get('version') ?? last)),
    'GET /api/graphs/g/versions': () =>
      Array.from({ length: last }, (_, index) => ({
        version: last - index,
        is_active: index === 0,
        created_at: '2026-11-16T12:00:00Z',
        name: 'Tides',
      })),
    'POST /api/agents/diff': ({ body }) => {
      const { from, to } = body as Sides;
      return changedValue(from.graph_version, to.graph_version);
    },
    'POST /api/graphs/g/versions/1/restore': () => graph(++last),
    ...routes,
  });
}

const showVersions = (address = '/build?flowID=g&tab=versions') =>
  showAt({ path: '/build', address, component: BuildPage });

afterEach(() => vi.unstubAllGlobals());

it('versions are listed, and the newest is compared with the one before it', async () => {
  serveVersions(3);
  showVersions();
  expect(await screen.findByText('~ high.b: 2 → 3')).toBeTruthy();
  const rows = screen.getAllByText(/^Version \d$/, { selector: 'span' });
  expect(rows.map((row) => row.textContent)).toEqual(['Version 3', 'Version 2', 'Version 1']);
});

it('any two versions can be compared', async () => {
  serveVersions(3);
  showVersions();
  await userEvent.selectOptions(await screen.findByRole('combobox', { name: 'From' }), '3');
  await userEvent.selectOptions(screen.getByRole('combobox', { name: 'To' }), '1');
  expect(await screen.findByText('~ high.b: 3 → 1')).toBeTruthy();
});

it('restoring a version saves it as the newest one, and shows that', async () => {
  const requests = serveVersions(2);
  const { router } = showVersions('/build?flowID=g&flowVersion=1&tab=versions');
  const restore = await screen.findByRole('button', { name: 'Restore version 1' });
  expect(screen.queryByRole('button', { name: 'Restore version 2' })).toBeNull();
  await userEvent.click(restore);
  expect(await screen.findByText('Version 3', { selector: 'span' })).toBeTruthy();
  expect(requests.map(({ route }) => route)).toContain('POST /api/graphs/g/versions/1/restore');
  await waitFor(() => expect(router.state.location.search).toEqual({ flowID: 'g', tab: 'versions' }));
  expect(await screen.findByText('~ high.b: 2 → 3')).toBeTruthy();
});

it('a version that cannot be restored says why', async () => {
  serveVersions(2, {
    'POST /api/graphs/g/versions/1/restore': () => refusal(400, 'INVALID_GRAPH', 'A block is missing.'),
  });
  showVersions();
  await userEvent.click(await screen.findByRole('button', { name: 'Restore version 1' }));
  expect((await screen.findByRole('alert')).textContent).toBe('A block is missing.');
});

it('an earlier version can be made the active one', async () => {
  const requests = serveVersions(2, { 'PUT /api/graphs/g/versions/active': () => ({ status: 'ok' }) });
  showVersions();
  await userEvent.click(await screen.findByRole('button', { name: 'Make active: version 1' }));
  await waitFor(() => {
    const sent = requests.find(({ route }) => route === 'PUT /api/graphs/g/versions/active');
    expect(sent?.body).toEqual({ active_graph_version: 1 });
  });
});

it('a single version has nothing to compare', async () => {
  serveVersions(1);
  showVersions();
  expect(await screen.findByText(/There is only one version/)).toBeTruthy();
  expect(within(document.body).queryByRole('combobox')).toBeNull();
});

it('only the owner sees the versions', async () => {
  serveVersions(2, { 'GET /api/graphs/g/versions': () => refusal(404, 'NOT_FOUND', 'Not found.') });
  showVersions();
  expect(await screen.findByText(/Only the owner/)).toBeTruthy();
});
