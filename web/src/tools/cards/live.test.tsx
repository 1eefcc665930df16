// Cards that poll the server for the current status.

import { QueryClient } from '@tanstack/react-query';
import { act, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ExecutionDetails, TaskView } from '@/protocol';
import { EXAMPLES, type Example, partOf } from '@/styleguide/fixtures';
import { noConnection, refusal, serve } from '@/testing/fake-server';
import { clearCardState } from '../card-state';
import { showCard } from '../testing/show-card';

const STARTED = partOf(EXAMPLES.execution_started[0] as Example);
const OPERATION = partOf(EXAMPLES.operation_started[0] as Example);

beforeEach(() => void vi.useFakeTimers({ shouldAdvanceTime: true }));
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  clearCardState();
});

function client(): QueryClient {
  return new QueryClient({ defaultOptions: { queries: { retry: false } } });
}

function advance(ms: number): Promise<void> {
  return act(async () => void (await vi.advanceTimersByTimeAsync(ms)));
}

function run(status: ExecutionDetails['status'], outputs = {}): Partial<ExecutionDetails> {
  return { id: '7d3f0a52-run', status, outputs, failed_nodes: [] };
}

test('a run is polled until it ends, and then shows its outputs', async () => {
  const answers = [run('QUEUED'), run('RUNNING'), run('COMPLETED', { total: [142.8] })];
  const requests = serve({ 'GET /api/executions/7d3f0a52-run': () => answers.shift() });
  await showCard(STARTED, { client: client() });
  await advance(100);
  expect(screen.getByText('Queued')).toBeDefined();
  await advance(2_100);
  expect(screen.getByText('Running')).toBeDefined();
  await advance(2_100);
  expect(screen.getByText('Completed')).toBeDefined();
  expect(screen.getByText('142.8')).toBeDefined();
  await advance(10_000);
  expect(requests).toHaveLength(3);
});

test('a run links to the library', async () => {
  serve({ 'GET /api/executions/7d3f0a52-run': () => run('COMPLETED') });
  await showCard(STARTED, { client: client() });
  expect(screen.getByRole('link', { name: 'Open run' }).getAttribute('href')).toBe(
    '/library/agents/c0ffee00-entry?activeTab=runs&activeItem=7d3f0a52-run',
  );
});

test('a missing run is requested only once', async () => {
  const requests = serve({});
  await showCard(STARTED, { client: client() });
  await advance(10_000);
  expect(screen.getByRole('alert')).toBeDefined();
  expect(requests).toHaveLength(1);
});

test('a run that has already ended is not requested', async () => {
  const requests = serve({});
  await showCard(partOf(EXAMPLES.agent_output[0] as Example), { client: client() });
  await advance(5_000);
  expect(requests).toHaveLength(0);
});

test('an operation is polled every 1.5 seconds, and its elapsed time counts from its start', async () => {
  const task = (status: TaskView['status']): TaskView => ({
    task_id: 'task-young',
    session_id: 's',
    status,
    created_at: new Date(Date.now() - 60_000).toISOString(),
  });
  const first = task('running');
  const answers = [first, first, { ...first, status: 'completed' }];
  const requests = serve({ 'GET /api/chat/tasks/task-young': () => answers.shift() });
  await showCard(OPERATION, { client: client() });
  await advance(100);
  expect(Number(screen.getByRole('progressbar').getAttribute('aria-valuenow'))).toBeCloseTo(75, -0.5);
  await advance(1_600);
  expect(requests).toHaveLength(2);
  await advance(1_600);
  expect(screen.getByText('Print chart is done. Loading its result…')).toBeDefined();
  await advance(10_000);
  expect(requests).toHaveLength(3);
});

test('an unreachable server is reported, and polling continues', async () => {
  let offline = true;
  const answer = () => (offline ? noConnection() : refusal(404, 'NOT_FOUND', 'TaskView not found.'));
  serve({ 'GET /api/chat/tasks/task-young': answer });
  await showCard(OPERATION, { client: client() });
  await advance(1_600);
  expect(screen.getByText(/Can't reach the server/)).toBeDefined();
  offline = false;
  await advance(1_600);
  expect(screen.getByText('This task is no longer available.')).toBeDefined();
});

test('a run that fails while its card is shown replaces the earlier message with its error', async () => {
  const failed = { ...run('FAILED'), error: { code: 'x', message: 'The harbor is closed.' } };
  serve({ 'GET /api/executions/run-6': () => failed });
  const example = EXAMPLES.agent_output.find(({ title }) => title === 'Running');
  await showCard(partOf(example as Example), { client: client() });
  await advance(100);
  expect(screen.getByText('Failed')).toBeDefined();
  expect(screen.getByText('The harbor is closed.')).toBeDefined();
  expect(screen.queryByText(/has not finished yet/)).toBeNull();
});

const SESSION = 'GET /api/chat/sessions/sub-2';
const RUNNING = partOf(EXAMPLES.sub_session_status[1] as Example);

function session(chat_status: 'running' | 'idle', role = 'assistant') {
  return { id: 'sub-2', chat_status, messages: [{ role, content: 'There are 312 gulls.' }] };
}

test('a sub-session is polled again after an error, and its answer is shown as success', async () => {
  const answers = [() => noConnection(), () => session('running'), () => session('idle')];
  const requests = serve({ [SESSION]: () => answers.shift()?.() });
  await showCard(RUNNING, { client: client() });
  await advance(100);
  expect(screen.getByText('Running')).toBeDefined();
  await advance(6_100);
  expect(screen.getByText('There are 312 gulls.')).toBeDefined();
  expect(screen.getByText('Finished').className).toContain('good');
  await advance(10_000);
  expect(requests).toHaveLength(3);
});

test('a sub-session that ended without an answer is neither success nor failure', async () => {
  serve({ [SESSION]: () => session('idle', 'user') });
  await showCard(RUNNING, { client: client() });
  await advance(100);
  expect(screen.getByText('Finished').className).not.toContain('good');
});

test('a missing sub-session is requested only once', async () => {
  const requests = serve({});
  await showCard(RUNNING, { client: client() });
  await advance(10_000);
  expect(screen.getByText('No longer available')).toBeDefined();
  expect(requests).toHaveLength(1);
});

test('a finished run is not shown with the older status that another card has cached', async () => {
  const ended = EXAMPLES.agent_output[0] as Example<'agent_output'>;
  expect(ended.response.execution.status).toBe('COMPLETED');
  const cache = client();
  cache.setQueryData(['run', ended.response.execution.execution_id], run('RUNNING'));
  await showCard(partOf(ended as Example), { client: cache });
  expect(screen.getByText('Completed')).toBeDefined();
  expect(screen.queryByText('Running')).toBeNull();
});
