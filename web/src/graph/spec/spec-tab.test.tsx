import { cleanup, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { refusal, serve } from '@/testing/fake-server';
import { showAt } from '@/testing/show-at';
import { BuildPage } from '../build-page';
import { changedValue, REPORT, VALID } from '../testing/fixtures';
import { clearSpecDrafts, proposeText } from './spec-drafts';

const SPEC = 'name: Tides\nsteps:\n  page: {block: Request}\n  high: {block: Text}\n';
const ERROR = {
  code: 'unknown_block',
  path: 'steps.high.block',
  step: 'high',
  message: 'There is no block “Text”.',
  expected: 'AI Text Generator',
};

type Routes = Parameters<typeof serve>[0];

/** Serves an agent whose second version is active; versions that are saved are added. */
function serveAgent(routes: Routes = {}) {
  let newest = 2;
  const graph = (version: number, isActive = true) => ({
    id: 'g',
    version,
    is_active: isActive,
    name: `Tides ${version}`,
    nodes: [],
    links: [],
  });
  return serve({
    'GET /api/graphs/g': ({ query }) => graph(Number(query.get('version') ?? newest)),
    'GET /api/graphs/g/versions': () =>
      Array.from({ length: newest }, (_, index) => ({
        version: newest - index,
        is_active: index === 0,
        created_at: '2026-11-16T12:00:00Z',
      })),
    'GET /api/blocks': () => [],
    'POST /api/agents/decompile': ({ body }) => ({
      spec: SPEC.replace('Tides', `Tides ${(body as { graph_version: number }).graph_version}`),
    }),
    'POST /api/agents/validate': () => VALID,
    'POST /api/agents/diff': () => changedValue(1, 2),
    'PUT /api/graphs/g': ({ query }) => graph(++newest, query.get('draft') !== 'true'),
    ...routes,
  });
}

async function showSpec(address = '/build?flowID=g&tab=spec') {
  const shown = showAt({ path: '/build', address, component: BuildPage });
  const area = await screen.findByRole<HTMLTextAreaElement>('textbox', { name: 'Agent spec' });
  return { ...shown, area };
}

const specText = () => screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Agent spec' }).value;
const press = (name: string) => userEvent.click(screen.getByRole('button', { name }));

afterEach(() => {
  vi.unstubAllGlobals();
  clearSpecDrafts();
});

describe('the spec tab', () => {
  it('shows the spec of the shown version, as text to edit', async () => {
    const requests = serveAgent();
    const { area } = await showSpec('/build?flowID=g&flowVersion=1&tab=spec');
    expect(area.value).toContain('name: Tides 1');
    expect(screen.getByText(/This is version 1 of 2/)).toBeTruthy();
    const sent = requests.find(({ route }) => route === 'POST /api/agents/decompile');
    expect(sent?.body).toEqual({ graph_id: 'g', graph_version: 1 });
  });

  it('is not loaded before it is opened', async () => {
    const requests = serveAgent();
    showAt({ path: '/build', address: '/build?flowID=g', component: BuildPage });
    await screen.findByRole('heading', { name: 'Tides 2' });
    expect(requests.map(({ route }) => route)).not.toContain('POST /api/agents/decompile');
  });

  it('keeps unsaved text while another tab is shown', async () => {
    serveAgent();
    const { area } = await showSpec();
    await userEvent.type(area, '# note');
    await userEvent.click(screen.getByRole('link', { name: 'Graph' }));
    expect(area.closest('[hidden]')).toBeTruthy();
    await userEvent.click(screen.getByRole('link', { name: 'Spec' }));
    await waitFor(() => expect(area.closest('[hidden]')).toBeNull());
    expect(screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Agent spec' }).value).toContain(
      '# note',
    );
  });

  it('keeps the unsaved text of each version, also after a reload, until it is discarded', async () => {
    serveAgent();
    const { area } = await showSpec();
    await userEvent.type(area, '# note');
    const picker = await screen.findByRole<HTMLSelectElement>('combobox', { name: 'Version' });
    await userEvent.selectOptions(picker, '1');
    await waitFor(() => expect(specText()).toContain('Tides 1'));
    expect(specText()).not.toContain('# note');
    cleanup();
    await showSpec();
    await waitFor(() => expect(specText()).toContain('# note'));
    expect(screen.getByText(/You have unsaved changes/)).toBeTruthy();
    expect(await screen.findByText('~ high.b: 1 → 2'), 'what it changes').toBeTruthy();
    await press('Discard changes');
    expect(specText()).toBe(SPEC.replace('Tides', 'Tides 2'));
    cleanup();
    await showSpec();
    expect(specText()).not.toContain('# note');
  });

  it('opens a text that was proposed for the agent as unsaved changes', async () => {
    serveAgent();
    proposeText('g', 'name: Proposed\n');
    await showSpec();
    expect(specText()).toBe('name: Proposed\n');
    expect(await screen.findByText('~ high.b: 1 → 2')).toBeTruthy();
    await press('Save as new version');
    await screen.findByRole('heading', { name: 'Tides 3' });
  });

  it('shows what the text changes in the version it was loaded from', async () => {
    const requests = serveAgent();
    const { area } = await showSpec();
    const show = screen.getByRole<HTMLButtonElement>('button', { name: 'Show changes' });
    expect(show.disabled).toBe(true);
    await userEvent.type(area, '# x');
    await userEvent.click(show);
    expect(await screen.findByText('~ high.b: 1 → 2')).toBeTruthy();
    expect(requests.find(({ route }) => route === 'POST /api/agents/diff')?.body).toEqual({
      from: { graph_id: 'g', graph_version: 2 },
      to: { spec: area.value },
    });
  });

  it('fixes the text automatically, and can undo that', async () => {
    serveAgent({
      'POST /api/agents/validate': () => ({
        ...VALID,
        valid: false,
        errors: [{ ...ERROR, edit: { op: 'set', step: 'high', pin: 'b', value: 1 } }],
      }),
      'POST /api/agents/fix': () => ({
        agent_json: {},
        spec: 'name: Fixed\n',
        fixes: [{ code: 'unknown_output', path: 'steps.high.b', message: 'Renamed the output.' }],
        valid_after_fix: true,
        remaining: [],
      }),
    });
    const { area } = await showSpec();
    const before = area.value;
    await press('Check');
    await userEvent.click(await screen.findByRole('button', { name: 'Fix automatically' }));
    await waitFor(() => expect(specText()).toBe('name: Fixed\n'));
    expect(screen.getByText('Renamed the output.')).toBeTruthy();
    expect(screen.getByText('The agent has no errors now.')).toBeTruthy();
    expect(screen.queryByText('The text has changed since.')).toBeNull();
    await press('Undo');
    expect(specText()).toBe(before);
  });

  it('lists the problems that a check finds, and selects the line of one', async () => {
    const requests = serveAgent({
      'POST /api/agents/validate': () => ({
        valid: false,
        state: 'draft',
        errors: [ERROR],
        warnings: [],
        needs: { credentials: [{ title: 'Mail account' }], blocks: ['Text'], agents: [] },
      }),
    });
    const { area } = await showSpec();
    await press('Check');
    await userEvent.click(await screen.findByRole('button', { name: /There is no block/ }));
    expect(document.activeElement).toBe(area);
    expect(area.value.slice(area.selectionStart, area.selectionEnd)).toBe('  high: {block: Text}');
    expect(screen.getByText('Credentials: Mail account')).toBeTruthy();
    expect(screen.getByText('steps.high.block')).toBeTruthy();
    expect(requests.at(-1)?.body).toEqual({ spec: area.value });
    await userEvent.type(area, ' ');
    expect(screen.getByText('The text has changed since.')).toBeTruthy();
  });

  it('shows what a rehearsal proves and what it does not', async () => {
    serveAgent({ 'POST /api/agents/rehearse': () => REPORT });
    await showSpec();
    await press('Rehearse');
    expect(await screen.findByText('Ready, rehearsed')).toBeTruthy();
    const results = screen.getByRole('region', { name: 'Results' }).textContent;
    expect(results).toContain('4.2 m');
    expect(results).toContain('Outputs without a valuealarm');
    expect(results).toContain('Branches not takencheck.no_output');
    expect(results).toContain('page: answered with sample data');
    expect(results).toContain('send: No address.');
    expect(results).toContain('With height = 4, approve rejected: fills alarm');
    expect(results).toContain('With page.client_error, send failing: no other output is filled');
    expect(results).toContain('page: no value for tide; high also failed');
    expect(results).toContain('send: every output still gets a value');
    expect(results).toContain('Branches taken (1)check.yes_output');
    expect(results).toContain('Steps that ran (2)');
  });

  it('saves a new version on top of the newest one, and continues from there', async () => {
    const requests = serveAgent();
    const { area } = await showSpec();
    const save = screen.getByRole<HTMLButtonElement>('button', { name: 'Save as new version' });
    expect(save.disabled).toBe(true);
    await userEvent.type(area, '# more');
    await userEvent.click(save);
    await screen.findByRole('heading', { name: 'Tides 3' });
    const puts = () => requests.filter(({ route }) => route === 'PUT /api/graphs/g');
    expect(puts()[0]?.query.get('base_version')).toBe('2');
    expect(puts()[0]?.body).toEqual({ spec: `${SPEC.replace('Tides', 'Tides 2')}# more` });
    const again = screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Agent spec' });
    await waitFor(() => expect(again.value).toBe(SPEC.replace('Tides', 'Tides 3')));
    await userEvent.type(again, '!');
    await press('Save as new version');
    await screen.findByRole('heading', { name: 'Tides 4' });
    expect(puts()[1]?.query.get('base_version')).toBe('3');
  });

  describe('of an agent that was changed meanwhile', () => {
    /** Refuses the first save, because version 5 exists. */
    async function saveTooLate(newestSpec: string) {
      let isFirst = true;
      const requests = serveAgent({
        'POST /api/agents/decompile': ({ body }) => ({
          spec: (body as { graph_version: number }).graph_version === 5 ? newestSpec : SPEC,
        }),
        'PUT /api/graphs/g': () => {
          if (!isFirst)
            return { id: 'g', version: 6, is_active: true, name: 'Tides 6', nodes: [], links: [] };
          isFirst = false;
          return Response.json(
            { detail: 'Changed.', code: 'STALE_VERSION', newest_version: 5 },
            { status: 409 },
          );
        },
        'GET /api/graphs/g/versions': () =>
          (isFirst ? [2] : [5, 2]).map((version, index) => ({
            version,
            is_active: index === 0,
            created_at: '2026-11-16T12:00:00Z',
          })),
      });
      const shown = await showSpec('/build?flowID=g&flowVersion=2&tab=spec');
      await userEvent.clear(shown.area);
      await userEvent.paste(SPEC.replace('Text', 'Mine'));
      await press('Save as new version');
      const alert = await screen.findByRole('alert');
      expect(alert.textContent).toContain('Its newest version is 5.');
      expect(await within(alert).findByText('~ high.b: 1 → 2'), 'what changed meanwhile').toBeTruthy();
      expect(specText()).toContain('Mine');
      return { ...shown, requests };
    }

    it('offers to reload', async () => {
      const { router } = await saveTooLate(SPEC.replace('Tides', 'Theirs'));
      await press('Discard my text and reload');
      await waitFor(() => expect(specText()).toContain('Theirs'));
      expect(specText()).not.toContain('Mine');
      expect(router.state.location.search).toEqual({ flowID: 'g', flowVersion: 5, tab: 'spec' });
    });

    it('offers to apply the changes to the newest version', async () => {
      const { router, requests } = await saveTooLate(SPEC.replace('Tides', 'Theirs'));
      await press('Apply my changes to version 5');
      await waitFor(() => expect(specText()).toContain('Theirs'));
      expect(specText()).toContain('Mine');
      expect(router.state.location.search).toEqual({ flowID: 'g', flowVersion: 5, tab: 'spec' });
      await press('Save as new version');
      await screen.findByRole('heading', { name: 'Tides 6' });
      const [, again] = requests.filter(({ route }) => route === 'PUT /api/graphs/g');
      expect(again?.query.get('base_version')).toBe('5');
    });

    it('says when both changed the same line, and can continue with the text', async () => {
      await saveTooLate(SPEC.replace('Text', 'Theirs'));
      await press('Apply my changes to version 5');
      expect(await screen.findByText(/Both of you changed the same lines/)).toBeTruthy();
      expect(specText()).toContain('Mine');
      await press('Continue with my text on version 5');
      await waitFor(() => expect(screen.queryByRole('alert')).toBeNull());
      expect(specText()).toContain('Mine');
      expect(screen.queryByText(/This is version/)).toBeNull();
    });
  });

  it('shows the errors of an agent that could not be saved', async () => {
    serveAgent({
      'PUT /api/graphs/g': () =>
        Response.json({ detail: 'It has errors.', code: 'INVALID_GRAPH', errors: [ERROR] }, { status: 400 }),
    });
    const { area } = await showSpec();
    await userEvent.type(area, '# x');
    await press('Save as new version');
    expect(await screen.findByRole('button', { name: /There is no block/ })).toBeTruthy();
    expect(area.value).toContain('# x');
  });

  it('can save an agent with errors as a draft', async () => {
    const requests = serveAgent({
      'PUT /api/graphs/g': ({ query }) =>
        query.get('draft') === 'true'
          ? { id: 'g', version: 3, is_active: false, name: 'Draft', nodes: [], links: [] }
          : Response.json({ detail: 'Errors.', code: 'INVALID_GRAPH', errors: [ERROR] }, { status: 400 }),
    });
    const { area, router } = await showSpec();
    await userEvent.type(area, '# x');
    await press('Save as new version');
    await userEvent.click(await screen.findByRole('button', { name: 'Save as draft' }));
    await waitFor(() =>
      expect(router.state.location.search).toEqual({ flowID: 'g', flowVersion: 3, tab: 'spec' }),
    );
    expect(requests.filter(({ route }) => route === 'PUT /api/graphs/g')).toHaveLength(2);
  });

  it('keeps the text when the server fails', async () => {
    serveAgent({ 'PUT /api/graphs/g': () => refusal(500, 'INTERNAL', 'Something broke.') });
    const { area } = await showSpec();
    await userEvent.type(area, '# x');
    await press('Save as new version');
    expect((await screen.findByRole('alert')).textContent).toContain('Something broke.');
    expect(area.value).toContain('# x');
  });

  it('has no save button for the agent of another user', async () => {
    serveAgent({ 'GET /api/graphs/g/versions': () => refusal(404, 'NOT_FOUND', 'Not found.') });
    await showSpec();
    expect(screen.queryByRole('button', { name: 'Save as new version' })).toBeNull();
    expect(screen.getByText(/Only the owner/)).toBeTruthy();
  });
});

it('another version can be made the active one', async () => {
  const requests = serveAgent({ 'PUT /api/graphs/g/versions/active': () => ({}) });
  showAt({ path: '/build', address: '/build?flowID=g&flowVersion=1', component: BuildPage });
  await userEvent.click(await screen.findByRole('button', { name: 'Make active' }));
  await waitFor(() => {
    const sent = requests.find(({ route }) => route === 'PUT /api/graphs/g/versions/active');
    expect(sent?.body).toEqual({ active_graph_version: 1 });
  });
});

describe('a new agent', () => {
  const showNew = async () => {
    const shown = showAt({ path: '/build', address: '/build?tab=spec', component: BuildPage });
    return {
      ...shown,
      area: await screen.findByRole<HTMLTextAreaElement>('textbox', { name: 'Agent spec' }),
    };
  };

  it('is written as a spec, kept, and saved', async () => {
    const requests = serveAgent({
      'POST /api/graphs': () => ({ id: 'g', version: 1, is_active: true, name: 'New', nodes: [], links: [] }),
    });
    await userEvent.type((await showNew()).area, 'name: New');
    cleanup();
    const { router } = await showNew();
    expect(specText()).toBe('name: New');
    expect(screen.queryByRole('button', { name: 'Show changes' })).toBeNull();
    await press('Save agent');
    await waitFor(() => expect(router.state.location.search).toEqual({ flowID: 'g' }));
    expect(requests.find(({ route }) => route === 'POST /api/graphs')?.body).toEqual({ spec: 'name: New' });
    cleanup();
    await showNew();
    expect(specText()).toBe('');
  });
});
