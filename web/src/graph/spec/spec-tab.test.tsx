import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RehearsalReport } from '@/protocol';
import { refusal, serve } from '@/testing/fake-server';
import { showAt } from '@/testing/show-at';
import { BuildPage } from '../build-page';

const SPEC = 'name: Tides\nsteps:\n  page: {block: Request}\n  high: {block: Text}\n';
const ERROR = {
  code: 'unknown_block',
  path: 'steps.high.block',
  step: 'high',
  message: 'There is no block “Text”.',
  expected: 'AI Text Generator',
};

const REPORT: RehearsalReport = {
  execution_id: 'e',
  state: 'rehearsed',
  nodes_fired: ['page', 'high'],
  not_fired: ['mail'],
  branches: [
    { step: 'check', pin: 'yes_output', taken: true },
    { step: 'check', pin: 'no_output', taken: false },
  ],
  outputs: { tide: ['4.2 m'] },
  unfilled: ['alarm'],
  failed: [{ step: 'send', node_id: 'n', error: 'No address.' }],
  answered: [{ step: 'page', by: 'sample' }],
  made_inputs: { harbor: 'Brest' },
};

type Routes = Parameters<typeof serve>[0];

/** Serves an agent whose second version is active; versions that are saved are added. */
function serveAgent(routes: Routes = {}) {
  let newest = 2;
  const graph = (version: number) => ({ id: 'g', version, name: `Tides ${version}`, nodes: [], links: [] });
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
    'PUT /api/graphs/g': () => graph(++newest),
    ...routes,
  });
}

async function showSpec(address = '/build?flowID=g&tab=spec') {
  const shown = showAt({ path: '/build', address, component: BuildPage });
  const area = await screen.findByRole<HTMLTextAreaElement>('textbox', { name: 'Agent spec' });
  return { ...shown, area };
}

const press = (name: string) => userEvent.click(screen.getByRole('button', { name }));

beforeEach(() => {
  // Not implemented here; the browser opens the dialog.
  HTMLDialogElement.prototype.showModal ??= function (this: HTMLDialogElement) {
    this.open = true;
  };
});
afterEach(() => vi.unstubAllGlobals());

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

  it('asks before unsaved text is lost', async () => {
    serveAgent();
    const { area } = await showSpec();
    await userEvent.type(area, '# note');
    const picker = await screen.findByRole<HTMLSelectElement>('combobox', { name: 'Version' });
    await userEvent.selectOptions(picker, '1');
    const dialog = await screen.findByRole('dialog', { name: 'Leave without saving?' });
    await userEvent.click(within(dialog).getByRole('button', { name: 'Cancel' }));
    expect(area.value).toContain('# note');
    await userEvent.selectOptions(picker, '1');
    await userEvent.click(await screen.findByRole('button', { name: 'Discard changes' }));
    await waitFor(() =>
      expect(screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Agent spec' }).value).toContain(
        'Tides 1',
      ),
    );
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
    expect(results).not.toContain('check.yes_output');
    expect(results).toContain('page: answered with sample data');
    expect(results).toContain('send: No address.');
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

  it('says that the agent was changed meanwhile, and offers to reload', async () => {
    serveAgent({
      'PUT /api/graphs/g': () =>
        Response.json({ detail: 'Changed.', code: 'STALE_VERSION', newest_version: 5 }, { status: 409 }),
    });
    const { area, router } = await showSpec();
    await userEvent.type(area, '# mine');
    await press('Save as new version');
    expect((await screen.findByRole('alert')).textContent).toContain('Its newest version is 5.');
    expect(area.value).toContain('# mine');
    await press('Discard my text and reload');
    await waitFor(() =>
      expect(screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Agent spec' }).value).toContain(
        'Tides 5',
      ),
    );
    expect(router.state.location.search).toEqual({ flowID: 'g', flowVersion: 5, tab: 'spec' });
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
