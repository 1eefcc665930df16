import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { EXAMPLES, type Example, partOf } from '@/styleguide/fixtures';
import { clearCardState } from '../card-state';
import { showCard } from '../testing/show-card';

const [MISSING, INPUT, READY] = EXAMPLES.setup_requirements as Example[];
afterEach(clearCardState);

test('an agent with missing credentials cannot be run, and the card shows the reason from the server', async () => {
  await showCard(partOf(MISSING as Example));
  expect(screen.getByText(/it needs API key, and this server stores no credentials/)).toBeDefined();
  expect(screen.getByRole('button', { name: /can't run here.*failed/ })).toBeDefined();
  expect(screen.getAllByRole('button')).toHaveLength(1);
  expect(screen.queryByRole('textbox')).toBeNull();
});

test('a missing input can be entered, and the message names it', async () => {
  const send = vi.fn(async () => {});
  await showCard(partOf(INPUT as Example), { send });
  await userEvent.type(screen.getByLabelText(/Ship/), 'Alma');
  await userEvent.click(screen.getByRole('button', { name: 'Run agent' }));
  expect(send).toHaveBeenCalledExactlyOnceWith(
    'Run the agent “Post to the harbor office” (c0ffee00-entry) with these inputs:\nship: Alma',
  );
});

test('an agent without inputs is run with one click', async () => {
  const send = vi.fn(async () => {});
  await showCard(partOf(READY as Example), { send });
  await userEvent.click(screen.getByRole('button', { name: 'Run agent' }));
  expect(send).toHaveBeenCalledExactlyOnceWith('Run the agent “Post to the harbor office” (c0ffee00-entry).');
});
