import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, describe, expect, test } from 'vitest';
import type { OpsOverview } from '@/protocol';
import { noConnection, refusal, serve } from '@/testing/fake-server';
import { showAt } from '@/testing/show-at';
import { setInternalKey } from './internal-key';
import { OpsPage } from './page';

const overview: OpsOverview = {
  turns: { queued: 2, running: 1, oldest_queued_seconds: 4.2 },
  executions: { queued: 0, running: 0, oldest_queued_seconds: null },
  live_turns: [
    {
      turn_id: 't1',
      session_id: 's1',
      status: 'running',
      age_seconds: 75,
      attempt: 1,
      tool_name: 'run_agent',
    },
  ],
  live_executions: [],
  workers: [{ name: 'harbor', busy: 1, executions: 0, slots: 4 }],
  queue: { depth: 2, outbox_lag_seconds: 0 },
  streams: { open: 3 },
  dependencies: [{ name: 'RabbitMQ', ok: false }],
  process: { version: '1.2.3', uptime_seconds: 3600 },
};

const showPage = () => showAt({ path: '/ops', address: '/ops', component: OpsPage });

afterEach(() => setInternalKey(null));

describe('the operations page', () => {
  test('shows running turns, the queue and unreachable dependencies', async () => {
    serve({ 'GET /api/ops/overview': () => overview, 'GET /api/about': () => ({ auth_mode: 'local' }) });
    showPage();
    expect(await screen.findByText('2 queued, oldest 4.2 s')).toBeTruthy();
    expect(screen.getAllByText('1 min 15 s').length).toBeGreaterThan(0);
    expect(screen.getByText('1 of 4 responses')).toBeTruthy();
    expect(screen.getByText('Unreachable')).toBeTruthy();
  });

  test('unavailable values are not shown as zero', async () => {
    const unavailable: OpsOverview = {
      ...overview,
      turns: {},
      live_turns: null,
      live_executions: null,
      workers: [{ name: 'harbor', busy: null, executions: null, slots: 4 }],
    };
    serve({ 'GET /api/ops/overview': () => unavailable, 'GET /api/about': () => ({ auth_mode: 'local' }) });
    showPage();
    // The responses tile, both tables and the worker.
    expect(await screen.findAllByText('Unavailable')).toHaveLength(4);
    expect(screen.queryByText('No active responses.')).toBeNull();
    expect(screen.queryByText('No active runs.')).toBeNull();
    expect(screen.queryByText('0 of 4 responses')).toBeNull();
  });

  test('unavailable workers are not shown as missing', async () => {
    const unavailable: OpsOverview = { ...overview, workers: null };
    serve({ 'GET /api/ops/overview': () => unavailable, 'GET /api/about': () => ({ auth_mode: 'local' }) });
    showPage();
    expect(await screen.findByText('Unavailable')).toBeTruthy();
    expect(screen.queryByText('No workers seen yet.')).toBeNull();
  });

  test('a server with sign-in asks for the internal key and rejects a wrong one', async () => {
    const requests = serve({
      'GET /api/ops/overview': ({ headers }) =>
        headers.get('x-api-key') === 'right' ? overview : refusal(401, 'UNAUTHENTICATED', 'Send the key.'),
      'GET /api/about': () => ({ auth_mode: 'jwt' }),
    });
    showPage();
    await userEvent.type(await screen.findByLabelText('Internal key'), 'wrong{Enter}');
    expect(await screen.findByText("That key isn't valid.")).toBeTruthy();
    await userEvent.type(screen.getByLabelText('Internal key'), 'right{Enter}');
    expect(await screen.findByText('1 of 4 responses')).toBeTruthy();
    const keys = requests
      .filter(({ route }) => route === 'GET /api/ops/overview')
      .map(({ headers }) => headers.get('x-api-key'));
    expect(keys.slice(0, 3)).toEqual([null, 'wrong', 'right']);
  });

  test('when the server is unreachable, the last values stay with their time', async () => {
    let answers = 0;
    serve({
      'GET /api/ops/overview': () => (answers++ === 0 ? overview : noConnection()),
      'GET /api/about': () => ({ auth_mode: 'local' }),
    });
    showPage();
    const notice = await screen.findByText(/Last updated at/, undefined, {
      timeout: 5_000,
    });
    expect(notice.closest('[role=status]')).toBeTruthy();
    expect(screen.getByText('1 of 4 responses')).toBeTruthy();
  });
});
