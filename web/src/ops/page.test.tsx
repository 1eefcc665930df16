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
  test('turns at work, the queue and what is away are shown', async () => {
    serve({ 'GET /api/ops/overview': () => overview, 'GET /api/about': () => ({ auth_mode: 'local' }) });
    showPage();
    expect(await screen.findByText('2 waiting, the oldest 4.2 s')).toBeTruthy();
    expect(screen.getAllByText('1 min 15 s').length).toBeGreaterThan(0);
    expect(screen.getByText('1 of 4 turns')).toBeTruthy();
    expect(screen.getByText('Away')).toBeTruthy();
  });

  test('what the server could not read is not said to be nothing', async () => {
    const unread: OpsOverview = {
      ...overview,
      turns: {},
      live_turns: null,
      live_executions: null,
      workers: [{ name: 'harbor', busy: null, executions: null, slots: 4 }],
    };
    serve({ 'GET /api/ops/overview': () => unread, 'GET /api/about': () => ({ auth_mode: 'local' }) });
    showPage();
    // The tile of turns, both lists and the worker.
    expect(await screen.findAllByText('cannot be read now')).toHaveLength(4);
    expect(screen.queryByText('No turn is at work.')).toBeNull();
    expect(screen.queryByText('No agent runs.')).toBeNull();
    expect(screen.queryByText('0 of 4 turns')).toBeNull();
  });

  test('workers that nobody could read are not missing', async () => {
    const unread: OpsOverview = { ...overview, workers: null };
    serve({ 'GET /api/ops/overview': () => unread, 'GET /api/about': () => ({ auth_mode: 'local' }) });
    showPage();
    expect(await screen.findByText('cannot be read now')).toBeTruthy();
    expect(screen.queryByText('No worker has been seen.')).toBeNull();
  });

  test('a server with a login asks for the internal key, and says when it is wrong', async () => {
    const asked = serve({
      'GET /api/ops/overview': ({ headers }) =>
        headers.get('x-api-key') === 'right' ? overview : refusal(401, 'UNAUTHENTICATED', 'Send the key.'),
      'GET /api/about': () => ({ auth_mode: 'jwt' }),
    });
    showPage();
    await userEvent.type(await screen.findByLabelText('Internal key'), 'wrong{Enter}');
    expect(await screen.findByText('The server does not take this key.')).toBeTruthy();
    await userEvent.type(screen.getByLabelText('Internal key'), 'right{Enter}');
    expect(await screen.findByText('1 of 4 turns')).toBeTruthy();
    const keys = asked
      .filter(({ route }) => route === 'GET /api/ops/overview')
      .map(({ headers }) => headers.get('x-api-key'));
    expect(keys.slice(0, 3)).toEqual([null, 'wrong', 'right']);
  });

  test('when the server goes away, the last values stay and their time is said', async () => {
    let answers = 0;
    serve({
      'GET /api/ops/overview': () => (answers++ === 0 ? overview : noConnection()),
      'GET /api/about': () => ({ auth_mode: 'local' }),
    });
    showPage();
    const away = await screen.findByText(
      /The server cannot be reached\. These are the values of/,
      undefined,
      {
        timeout: 5_000,
      },
    );
    expect(away.closest('[role=status]')).toBeTruthy();
    expect(screen.getByText('1 of 4 turns')).toBeTruthy();
  });
});
