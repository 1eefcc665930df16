import { screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { EXAMPLES, type Example, partOf } from '@/styleguide/fixtures';
import { clearCardState } from '../card-state';
import { showCard } from '../testing/show-card';

afterEach(clearCardState);

function status(task_id: string | null) {
  const [example] = EXAMPLES.operation_status;
  return partOf({ ...example, response: { ...example.response, task_id } } as Example);
}

test('an operation shows progress while its task can be polled', async () => {
  await showCard(status('task-old'));
  expect(screen.getByRole('progressbar')).toBeDefined();
});

test.each([null, 'task-missing'])('an operation without a known task shows no progress: %s', async (task) => {
  await showCard(status(task));
  expect(screen.getByText('It was running when the copilot checked.')).toBeDefined();
  expect(screen.queryByRole('progressbar')).toBeNull();
});

test('a stopped operation is not shown as failed', async () => {
  await showCard(status('task-cancelled'));
  expect(screen.getByText('Stopped')).toBeDefined();
  expect(screen.queryByText('Failed')).toBeNull();
});

test('a status check is done once its turn has ended', async () => {
  await showCard(status('task-old'));
  expect(screen.getByRole('button', { name: /in the background$/ })).toBeDefined();
  await showCard(status('task-old'), { live: false });
  expect(screen.getByRole('button', { name: /done$/ })).toBeDefined();
});

test('an agent that is being built shows its stages', async () => {
  const find = (title: string) =>
    partOf(EXAMPLES.operation_pending.find((example) => example.title === title) as Example);
  await showCard(find('An agent is being built'));
  const current = screen.getByText('Writing the agent');
  expect(current.getAttribute('aria-current')).toBe('step');
  expect(screen.getByText(/^Writing the agent: Load the tide table/)).toBeDefined();
  expect(screen.getByText('Play while you wait')).toBeDefined();
  await showCard(find('An agent is being built, no stage known yet'));
  expect(screen.getByText('Writing the agent').getAttribute('aria-current')).toBeNull();
  await showCard(find('As stored in the history'));
  expect(screen.queryByText('Writing the agent')).toBeNull();
});
