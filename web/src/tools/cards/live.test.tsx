// Cards that ask the server how things stand now.

import { QueryClient } from '@tanstack/react-query';
import { act, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ExecutionDetails, Task } from '@/protocol';
import { EXAMPLES, type Example, partOf } from '@/styleguide/fixtures';
import { noConnection, refusal, serve } from '@/testing/fake-server';
import { forgetCards } from '../card-memory';
import { showCard } from '../show-card';

const STARTED = partOf(EXAMPLES.execution_started[0] as Example);
const OPERATION = partOf(EXAMPLES.operation_started[0] as Example);

beforeEach(() => void vi.useFakeTimers({ shouldAdvanceTime: true }));
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  forgetCards();
});

function client(): QueryClient {
  return new QueryClient({ defaultOptions: { queries: { retry: false } } });
}

function pass(ms: number): Promise<void> {
  return act(async () => void (await vi.advanceTimersByTimeAsync(ms)));
}

function run(status: ExecutionDetails['status'], outputs = {}): Partial<ExecutionDetails> {
  return { id: '7d3f0a52-run', status, outputs, failed_nodes: [] };
}

test('a run is followed until it has ended, and then shows what it gave', async () => {
  const answers = [run('QUEUED'), run('RUNNING'), run('COMPLETED', { total: [142.8] })];
  const asked = serve({ 'GET /api/executions/7d3f0a52-run': () => answers.shift() });
  await showCard(STARTED, { client: client() });
  await pass(100);
  expect(screen.getByText('Queued')).toBeDefined();
  await pass(2_100);
  expect(screen.getByText('Running')).toBeDefined();
  await pass(2_100);
  expect(screen.getByText('Completed')).toBeDefined();
  expect(screen.getByText('142.8')).toBeDefined();
  await pass(10_000);
  expect(asked).toHaveLength(3);
});

test('a run leads to its place in the library', async () => {
  serve({ 'GET /api/executions/7d3f0a52-run': () => run('COMPLETED') });
  await showCard(STARTED, { client: client() });
  expect(screen.getByRole('link', { name: 'Open the run' }).getAttribute('href')).toBe(
    '/library/agents/c0ffee00-entry?activeTab=runs&activeItem=7d3f0a52-run',
  );
});

test('a run that is gone is not asked for again', async () => {
  const asked = serve({});
  await showCard(STARTED, { client: client() });
  await pass(10_000);
  expect(screen.getByRole('alert')).toBeDefined();
  expect(asked).toHaveLength(1);
});

test('a run that had ended is not asked for at all', async () => {
  const asked = serve({});
  await showCard(partOf(EXAMPLES.agent_output[0] as Example), { client: client() });
  await pass(5_000);
  expect(asked).toHaveLength(0);
});

test('an operation is asked for every one and a half seconds, and counts from when it began', async () => {
  const task = (status: Task['status']): Task => ({
    task_id: 'task-young',
    session_id: 's',
    status,
    created_at: new Date(Date.now() - 60_000).toISOString(),
  });
  const first = task('running');
  const answers = [first, first, { ...first, status: 'completed' }];
  const asked = serve({ 'GET /api/chat/tasks/task-young': () => answers.shift() });
  await showCard(OPERATION, { client: client() });
  await pass(100);
  expect(Number(screen.getByRole('progressbar').getAttribute('aria-valuenow'))).toBeCloseTo(75, -0.5);
  await pass(1_600);
  expect(asked).toHaveLength(2);
  await pass(1_600);
  expect(screen.getByText('Print chart is done. Its result is on the way.')).toBeDefined();
  await pass(10_000);
  expect(asked).toHaveLength(3);
});

test('a server that is away is said to be, and is asked on', async () => {
  let away = true;
  const answer = () => (away ? noConnection() : refusal(404, 'NOT_FOUND', 'No such task.'));
  serve({ 'GET /api/chat/tasks/task-young': answer });
  await showCard(OPERATION, { client: client() });
  await pass(1_600);
  expect(screen.getByText(/The server does not answer/)).toBeDefined();
  away = false;
  await pass(1_600);
  expect(screen.getByText('The server knows nothing of this work any more.')).toBeDefined();
});

test('a run that fails while it is looked at says why, and not what was said before', async () => {
  const failed = { ...run('FAILED'), error: { code: 'x', message: 'The harbour is closed.' } };
  serve({ 'GET /api/executions/run-6': () => failed });
  const example = EXAMPLES.agent_output.find(({ title }) => title === 'Under way');
  await showCard(partOf(example as Example), { client: client() });
  await pass(100);
  expect(screen.getByText('Failed')).toBeDefined();
  expect(screen.getByText('The harbour is closed.')).toBeDefined();
  expect(screen.queryByText(/still at work/)).toBeNull();
});

const SESSION = 'GET /api/chat/sessions/sub-2';
const AT_WORK = partOf(EXAMPLES.sub_session_status[1] as Example);

function session(chat_status: 'running' | 'idle', role = 'assistant') {
  return { id: 'sub-2', chat_status, messages: [{ role, content: 'There are 312 gulls.' }] };
}

test('a sub-session is asked on after a failure, and its answer is good news', async () => {
  const answers = [() => noConnection(), () => session('running'), () => session('idle')];
  const asked = serve({ [SESSION]: () => answers.shift()?.() });
  await showCard(AT_WORK, { client: client() });
  await pass(100);
  expect(screen.getByText('At work')).toBeDefined();
  await pass(6_100);
  expect(screen.getByText('There are 312 gulls.')).toBeDefined();
  expect(screen.getByText('Has ended').className).toContain('good');
  await pass(10_000);
  expect(asked).toHaveLength(3);
});

test('a sub-session that ended without an answer is neither good nor bad news', async () => {
  serve({ [SESSION]: () => session('idle', 'user') });
  await showCard(AT_WORK, { client: client() });
  await pass(100);
  expect(screen.getByText('Has ended').className).not.toContain('good');
});

test('a sub-session that is gone is not asked for again', async () => {
  const asked = serve({});
  await showCard(AT_WORK, { client: client() });
  await pass(10_000);
  expect(screen.getByText('Not there any more')).toBeDefined();
  expect(asked).toHaveLength(1);
});

test('a run that is known to have ended is not shown as an earlier card has read it', async () => {
  const ended = EXAMPLES.agent_output[0] as Example<'agent_output'>;
  expect(ended.response.execution.status).toBe('COMPLETED');
  const cache = client();
  cache.setQueryData(['run', ended.response.execution.execution_id], run('RUNNING'));
  await showCard(partOf(ended as Example), { client: cache });
  expect(screen.getByText('Completed')).toBeDefined();
  expect(screen.queryByText('Running')).toBeNull();
});
