import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { refusal, serve, show } from '@/testing/fake-server';
import { useExecution } from './use-execution';

const META = {
  id: 'e',
  graph_id: 'g',
  graph_version: 1,
  inputs: {},
  stop_requested: false,
  event_count: 3,
  stats: { cost: 0, duration: 1, node_count: 3, node_error_count: 0, is_dry_run: false },
  created_at: '2026-11-16T12:00:00Z',
};
const details = (status: string, more: object = {}) => ({
  ...META,
  status,
  outputs: {},
  outputs_cut: false,
  node_executions: [],
  node_total: 3,
  failed_nodes: [],
  ...more,
});

const node = (id: number, status: string) =>
  `id: ${id}\nevent: node_execution_event\ndata: ${JSON.stringify({ node_exec_id: `e:${id}`, node_id: 'n', status, output_data: { out: [id] }, cost: 0, at: id })}\n\n`;
const run = (status: string) =>
  `event: graph_execution_event\ndata: ${JSON.stringify({ ...META, status })}\n\n`;

function RunSummary() {
  const { execution, details, nodes, error, refetchDetails } = useExecution('g', 'e');
  const one = nodes.get('n');
  return (
    <>
      <p>
        {execution?.status} runs {one?.runs ?? 0} outputs {JSON.stringify(details?.outputs)} error{' '}
        {String(error)}
      </p>
      {execution?.stop_requested && <p>Stopping</p>}
      <button type="button" onClick={refetchDetails}>
        Refetch
      </button>
    </>
  );
}

afterEach(() => vi.unstubAllGlobals());

describe('useExecution', () => {
  it('follows the events and fetches the outputs at the end', async () => {
    let isOver = false;
    serve({
      'GET /api/graphs/g/executions/e': () =>
        isOver ? details('COMPLETED', { outputs: { sum: [3] } }) : details('RUNNING'),
      'GET /api/graphs/g/executions/e/stream': () => {
        isOver = true;
        return new Response(
          `${node(1, 'COMPLETED')}${node(2, 'COMPLETED')}${run('COMPLETED')}data: [DONE]\n\n`,
        );
      },
    });
    show(<RunSummary />);
    await waitFor(() =>
      expect(screen.getByText(/COMPLETED runs 2 outputs/).textContent).toContain('{"sum":[3]} error null'),
    );
  });

  it('keeps the streamed state when the details are fetched again, and takes the stop request from them', async () => {
    let stopRequested = false;
    const requests = serve({
      'GET /api/graphs/g/executions/e': () => details('RUNNING', { stop_requested: stopRequested }),
      'GET /api/graphs/g/executions/e/stream': () => {
        const open = new ReadableStream<Uint8Array>({
          start: (stream) => stream.enqueue(new TextEncoder().encode(run('RUNNING') + node(1, 'COMPLETED'))),
        });
        return new Response(open);
      },
    });
    show(<RunSummary />);
    await screen.findByText(/RUNNING runs 1/);
    stopRequested = true;
    await userEvent.click(screen.getByRole('button', { name: 'Refetch' }));
    await screen.findByText('Stopping');
    expect(screen.getByText(/RUNNING runs 1/)).toBeTruthy();
    expect(requests.filter(({ route }) => route.endsWith('/stream'))).toHaveLength(1);
  });

  it('does not replay the events of a finished run with very many of them', async () => {
    const requests = serve({
      'GET /api/graphs/g/executions/e': () => details('COMPLETED', { event_count: 2_000_000 }),
    });
    show(<RunSummary />);
    await screen.findByText(/COMPLETED runs 0/);
    expect(requests.map((one) => one.route)).toEqual(['GET /api/graphs/g/executions/e']);
  });

  it('reports a missing run', async () => {
    serve({
      'GET /api/graphs/g/executions/e': () => refusal(404, 'EXECUTION_NOT_FOUND', 'Run not found.'),
    });
    show(<RunSummary />);
    await screen.findByText(/Run not found\./);
  });
});
