import { act, screen } from '@testing-library/react';
import { afterEach, expect, it, vi } from 'vitest';
import { serve, show } from '@/testing/fake-server';
import { POLL_MS, useLastExecutions } from './last-executions';

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function LastRun() {
  return <p>{useLastExecutions().get('g')?.status ?? 'none'}</p>;
}

it('the latest runs are polled until all of them have ended', async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  const states = ['RUNNING', 'RUNNING', 'COMPLETED'];
  const requests = serve({
    'GET /api/executions': () => [{ id: 'e', graph_id: 'g', status: states.shift() }],
  });
  show(<LastRun />);
  await screen.findByText('RUNNING');
  await act(() => vi.advanceTimersByTimeAsync(2 * POLL_MS + 500));
  await screen.findByText('COMPLETED');
  await act(() => vi.advanceTimersByTimeAsync(3 * POLL_MS));
  expect(requests).toHaveLength(3);
});
