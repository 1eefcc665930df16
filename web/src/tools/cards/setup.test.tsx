import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { EXAMPLES, type Example, partOf } from '@/styleguide/fixtures';
import { forgetCards } from '../card-memory';
import { showCard } from '../show-card';

const [MISSING, INPUT, NOTHING] = EXAMPLES.setup_requirements as Example[];
afterEach(forgetCards);

test('without the credentials nothing can be run, and the card says what the server says', async () => {
  await showCard(partOf(MISSING as Example));
  expect(screen.getByText(/it needs API key, and this server keeps no credentials/)).toBeDefined();
  expect(screen.getByRole('button', { name: /cannot run here.*failed/ })).toBeDefined();
  expect(screen.getAllByRole('button')).toHaveLength(1);
  expect(screen.queryByRole('textbox')).toBeNull();
});

test('where only an input is missing it is asked for, and what is sent is true', async () => {
  const send = vi.fn(async () => {});
  await showCard(partOf(INPUT as Example), { send });
  await userEvent.type(screen.getByLabelText(/Ship/), 'Alma');
  await userEvent.click(screen.getByRole('button', { name: 'Run the agent' }));
  expect(send).toHaveBeenCalledExactlyOnceWith(
    'Run the agent “Post to the harbour office” (c0ffee00-entry) with these inputs:\nship: Alma',
  );
});

test('what takes no inputs is run with one press', async () => {
  const send = vi.fn(async () => {});
  await showCard(partOf(NOTHING as Example), { send });
  await userEvent.click(screen.getByRole('button', { name: 'Run the agent' }));
  expect(send).toHaveBeenCalledExactlyOnceWith(
    'Run the agent “Post to the harbour office” (c0ffee00-entry).',
  );
});
