import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { serve } from '@/testing/fake-server';
import { showAt } from '@/testing/show-at';
import { BuildPage } from '../build-page';
import { REPORT, WRONG_LINK } from '../testing/fixtures';

const GRAPH = {
  id: 'g',
  version: 2,
  is_active: true,
  name: 'Tides',
  nodes: [
    { id: 'high', block_id: 'b', metadata: { customized_name: 'Read the tide' } },
    { id: 'mail', block_id: 'b', metadata: { customized_name: 'Send mail' } },
  ],
  links: [{ id: 'l', source_id: 'high', source_name: 'out', sink_id: 'mail', sink_name: 'text' }],
  input_schema: {
    type: 'object',
    properties: { harbor: { type: 'string' }, height: { type: 'number' } },
    required: ['harbor', 'height'],
  },
  output_schema: { type: 'object', properties: {} },
};

const EXECUTION = {
  id: 'e',
  status: 'COMPLETED',
  event_count: 1,
  outputs: {},
  stats: {},
  node_executions: [],
};
const UPDATE = {
  node_exec_id: 'x',
  node_id: 'high',
  status: 'COMPLETED',
  output_data: { out: ['4.2 m'] },
  cost: 0,
  at: 1,
};

function streamOf(update: object): Response {
  const events = [
    `id: 1\nevent: node_execution_event\ndata: ${JSON.stringify(update)}`,
    `event: graph_execution_event\ndata: ${JSON.stringify(EXECUTION)}`,
    'data: [DONE]',
  ];
  return new Response(events.map((event) => `${event}\n\n`).join(''));
}

function serveRehearsal(routes: Parameters<typeof serve>[0] = {}) {
  return serve({
    'GET /api/graphs/g': () => GRAPH,
    'GET /api/graphs/g/versions': () => [],
    'GET /api/blocks': () => [{ id: 'b', name: 'TellBlock', description: 'Tells.', uiType: 'Standard' }],
    'POST /api/agents/rehearse': () => REPORT,
    'GET /api/graphs/g/executions/e': () => EXECUTION,
    'GET /api/graphs/g/executions/e/stream': () => streamOf(UPDATE),
    ...routes,
  });
}

async function openTab() {
  showAt({ path: '/build', address: '/build?flowID=g&tab=rehearse', component: BuildPage });
  return screen.findByRole('button', { name: 'Rehearse' });
}

afterEach(() => vi.unstubAllGlobals());

describe('the rehearsal tab', () => {
  it('rehearses the shown version with the given inputs, none of which is required', async () => {
    const requests = serveRehearsal();
    const button = await openTab();
    await userEvent.type(screen.getByRole('textbox', { name: 'Harbor' }), 'Brest');
    await userEvent.click(screen.getByRole('switch', { name: /Rehearse failures/ }));
    await userEvent.click(button);
    await screen.findByText('Ready, rehearsed');
    const sent = requests.find(({ route }) => route === 'POST /api/agents/rehearse');
    expect(sent?.body).toEqual({
      graph_id: 'g',
      graph_version: 2,
      inputs: { harbor: 'Brest' },
      fail_each: true,
    });
  });

  it('shows which steps ran and which were not reached in the graph, and the report', async () => {
    serveRehearsal();
    await userEvent.click(await openTab());
    const results = screen.getByRole('region', { name: 'Rehearsal results' });
    const reached = await within(results).findByRole('group', { name: 'Read the tide' });
    await within(reached).findByRole('img', { name: '1 run' });
    const missed = within(results).getByRole('group', { name: 'Send mail' });
    expect(within(missed).getByText('Not reached')).toBeTruthy();
    expect(within(reached).queryByText('Not reached')).toBeNull();
    expect(results.textContent).toContain('4.2 m');
    expect(results.textContent).toContain('Branches not takencheck.no_output');
    expect(results.textContent).toContain('page: answered with sample data');
    expect(results.textContent).toContain('Brest');
  });

  it('shows another run of the rehearsal in the graph', async () => {
    serveRehearsal({
      'GET /api/graphs/g/executions/e2': () => ({ ...EXECUTION, id: 'e2' }),
      'GET /api/graphs/g/executions/e2/stream': () => streamOf({ ...UPDATE, node_id: 'mail' }),
    });
    await userEvent.click(await openTab());
    const runs = await screen.findByRole('combobox', { name: 'Run of the rehearsal' });
    await userEvent.selectOptions(runs, 'Run 2, with height = 4, approve rejected');
    const mail = await screen.findByRole('group', { name: 'Send mail' });
    expect(await within(mail).findByRole('img', { name: '1 run' })).toBeTruthy();
  });

  it('answers outside steps with an earlier run, if that is wanted', async () => {
    const run = (id: string, isDryRun: boolean) => ({
      id,
      status: 'COMPLETED',
      created_at: '2026-11-16T12:00:00Z',
      stats: { is_dry_run: isDryRun },
    });
    const requests = serveRehearsal({
      'GET /api/graphs/g/executions': () => ({ executions: [run('dry', true), run('real', false)] }),
    });
    const button = await openTab();
    const choice = await screen.findByRole<HTMLSelectElement>('combobox', { name: 'Outside steps' });
    expect([...choice.options].map(({ value }) => value)).toEqual(['', 'real']);
    await userEvent.selectOptions(choice, 'real');
    await userEvent.click(button);
    await screen.findByText('Ready, rehearsed');
    const sent = requests.find(({ route }) => route === 'POST /api/agents/rehearse');
    expect(sent?.body).toMatchObject({ recording: 'real' });
  });

  it('shows the errors of an agent that cannot be rehearsed', async () => {
    serveRehearsal({
      'POST /api/agents/rehearse': () =>
        Response.json({ detail: 'Errors.', code: 'INVALID_GRAPH', errors: [WRONG_LINK] }, { status: 400 }),
    });
    await userEvent.click(await openTab());
    expect(await screen.findByText(/The block has no output/)).toBeTruthy();
  });

  it('shows a wrong input at its field', async () => {
    serveRehearsal({
      'POST /api/agents/rehearse': () =>
        Response.json(
          {
            detail: 'Wrong.',
            code: 'INVALID_INPUTS',
            inputs: { missing: [], unknown: [], wrong: [['harbor', 'is not a harbor']] },
          },
          { status: 400 },
        ),
    });
    await userEvent.click(await openTab());
    await waitFor(() =>
      expect(screen.getByRole('textbox', { name: 'Harbor' }).getAttribute('aria-invalid')).toBe('true'),
    );
    expect(screen.getByText('Is not a harbor.')).toBeTruthy();
  });
});
