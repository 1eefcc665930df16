import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { refusal, serve } from '@/testing/fake-server';
import { showAt } from '@/testing/show-at';
import { BuildPage } from './build-page';
import { changedValue, INVALID, VALID, WRONG_LINK } from './testing/fixtures';

type Routes = Parameters<typeof serve>[0];

const graph = (version: number, isActive = true) => ({
  id: 'g',
  version,
  is_active: isActive,
  name: `Tides ${version}`,
  nodes: [
    { id: 'read', block_id: 'b', metadata: { customized_name: 'Read the table' } },
    { id: 'tell', block_id: 'b' },
  ],
  links: [{ id: 'l1', source_id: 'read', source_name: 'reslt', sink_id: 'tell', sink_name: 'text' }],
});

/** Serves a draft as the newest version, which a fix repairs. */
function serveDraft(routes: Routes = {}) {
  let newest = 2;
  return serve({
    'GET /api/graphs/g': ({ query }) => graph(Number(query.get('version') ?? newest)),
    'GET /api/graphs/g/versions': () =>
      Array.from({ length: newest }, (_, index) => ({
        version: newest - index,
        is_active: index === 0,
        created_at: '2026-11-16T12:00:00Z',
        name: 'Tides',
      })),
    'GET /api/blocks': () => [{ id: 'b', name: 'TellBlock', description: 'Tells.', uiType: 'Standard' }],
    'POST /api/agents/validate': ({ body }) =>
      (body as { graph_version: number }).graph_version > 2 ? VALID : INVALID,
    'POST /api/graphs/g/edits': () => ({
      graph: graph(++newest),
      diff: changedValue('read.reslt', 'read.result'),
      undo: [],
    }),
    ...routes,
  });
}

const showDraft = (address = '/build?flowID=g&flowVersion=2') =>
  showAt({ path: '/build', address, component: BuildPage });

const fixes = () => screen.findAllByRole('button', { name: 'Apply fix' });

afterEach(() => vi.unstubAllGlobals());

describe('problems of an agent', () => {
  it('are shown at their nodes, and those of the whole agent above', async () => {
    serveDraft();
    showDraft();
    const node = await screen.findByRole('group', { name: 'Tell' });
    expect(await within(node).findByRole('img', { name: '1 error' })).toBeTruthy();
    const other = screen.getByRole('group', { name: 'Read the table' });
    expect(within(other).queryByRole('img', { name: /error/ })).toBeNull();
    const bar = screen.getByRole('region', { name: /2 errors/ });
    const groups = within(bar)
      .getAllByText(/^(The whole agent|tell)$/)
      .map((title) => title.textContent);
    expect(groups).toEqual(['The whole agent', 'tell']);
  });

  it('lead to the panel of their node, with what was expected', async () => {
    serveDraft();
    showDraft();
    await screen.findByRole('group', { name: 'Tell' });
    await userEvent.click(await screen.findByRole('button', { name: /The block has no output/ }));
    const panel = await screen.findByRole('region', { name: 'About Tell' });
    await waitFor(() => expect(document.activeElement).toBe(panel));
    expect(within(panel).getByText('Expected').nextSibling?.textContent).toBe('result');
    expect(within(panel).getByText('Got').nextSibling?.textContent).toBe('reslt');
    expect(within(panel).getByText('Sets tell.text to "read.result"')).toBeTruthy();
  });

  it('a fix applies exactly its edit, and the new version is shown with what changed', async () => {
    const requests = serveDraft();
    const { router } = showDraft();
    const [fix] = await fixes();
    await userEvent.click(fix as HTMLElement);
    await screen.findByRole('heading', { name: 'Tides 3' });
    const sent = requests.find(({ route }) => route === 'POST /api/graphs/g/edits');
    expect(sent?.body).toEqual({ base_version: 2, edits: [WRONG_LINK.edit], draft: true });
    expect(router.state.location.search).toEqual({ flowID: 'g' });
    const bar = await screen.findByRole('region', { name: /No errors found/ });
    expect(within(bar).getByText('~ high.b: "read.reslt" → "read.result"')).toBeTruthy();
    expect(document.activeElement).toBe(bar);
    expect(screen.queryByRole('img', { name: /error/ })).toBeNull();
  });

  it('a version that still has errors after a fix stays a draft in the URL', async () => {
    serveDraft({
      'POST /api/graphs/g/edits': () => ({ graph: graph(3, false), diff: changedValue(1, 2), undo: [] }),
    });
    const { router } = showDraft();
    const [fix] = await fixes();
    await userEvent.click(fix as HTMLElement);
    await waitFor(() => expect(router.state.location.search).toEqual({ flowID: 'g', flowVersion: 3 }));
  });

  it('a fix of an agent that was changed meanwhile shows the change', async () => {
    serveDraft({
      'POST /api/graphs/g/edits': () =>
        Response.json(
          { detail: 'Changed.', code: 'STALE_VERSION', newest_version: 5, diff: changedValue(1, 7) },
          { status: 409 },
        ),
    });
    showDraft();
    const [fix] = await fixes();
    await userEvent.click(fix as HTMLElement);
    const alert = await screen.findByRole('alert');
    expect(alert.textContent).toContain('Its newest version is 5.');
    expect(within(alert).getByText('~ high.b: 1 → 7')).toBeTruthy();
    expect(within(alert).getByRole('link', { name: 'Show the newest version' })).toBeTruthy();
  });

  it('a fix that fails is reported, and can be tried again', async () => {
    serveDraft({ 'POST /api/graphs/g/edits': () => refusal(500, 'INTERNAL', 'Something broke.') });
    showDraft();
    const [fix] = await fixes();
    await userEvent.click(fix as HTMLElement);
    expect((await screen.findByRole('alert')).textContent).toContain('Something broke.');
    expect((await fixes()).length).toBeGreaterThan(0);
  });

  it('of an older version cannot be fixed until it is restored', async () => {
    serveDraft();
    showDraft('/build?flowID=g&flowVersion=1');
    expect(await screen.findByText(/restore it first/)).toBeTruthy();
    expect(screen.queryByRole('button', { name: 'Apply fix' })).toBeNull();
  });

  it('of the agent of another user have no fixes', async () => {
    serveDraft({ 'GET /api/graphs/g/versions': () => refusal(404, 'NOT_FOUND', 'Not found.') });
    showDraft();
    expect(await screen.findByRole('button', { name: /The block has no output/ })).toBeTruthy();
    expect(screen.queryByRole('button', { name: 'Apply fix' })).toBeNull();
    expect(screen.queryByText(/restore it first/)).toBeNull();
  });

  it('a check that fails can be repeated', async () => {
    let isFailing = true;
    serveDraft({
      'POST /api/agents/validate': () => (isFailing ? refusal(500, 'INTERNAL', 'Something broke.') : VALID),
    });
    showDraft();
    await screen.findByText("Couldn't check the agent");
    isFailing = false;
    await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
    expect(await screen.findByText('No errors found.')).toBeTruthy();
  });
});
