import { screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { EXAMPLES, type Example, partOf } from '@/styleguide/fixtures';
import { forgetCards } from '../card-memory';
import { showCard } from '../show-card';

afterEach(forgetCards);

function status(task_id: string | null) {
  const [example] = EXAMPLES.operation_status;
  return partOf({ ...example, response: { ...example.response, task_id } } as Example);
}

test('work is waited for as long as somebody can be asked about it', async () => {
  await showCard(status('task-old'));
  expect(screen.getByRole('progressbar')).toBeDefined();
});

test.each([null, 'task-gone'])('work that nobody knows is not waited for: %s', async (task) => {
  await showCard(status(task));
  expect(screen.getByText('It was at work when the copilot asked.')).toBeDefined();
  expect(screen.queryByRole('progressbar')).toBeNull();
});

test('work that was stopped has not failed', async () => {
  await showCard(status('task-cancelled'));
  expect(screen.getByText('Stopped')).toBeDefined();
  expect(screen.queryByText('Failed')).toBeNull();
});

test('the question how it stands is answered when its turn has ended', async () => {
  await showCard(status('task-old'));
  expect(screen.getByRole('button', { name: /in the background$/ })).toBeDefined();
  await showCard(status('task-old'), { live: false });
  expect(screen.getByRole('button', { name: /done$/ })).toBeDefined();
});
