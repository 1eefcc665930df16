import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { EXAMPLES, type Example, partOf } from '@/styleguide/fixtures';
import { clearCardState } from '../card-state';
import { showCard } from '../testing/show-card';

const PART = partOf(EXAMPLES.clarification_needed[0] as Example);
afterEach(clearCardState);

test('answers are sent as one message and are read-only afterwards', async () => {
  const send = vi.fn(async () => {});
  await showCard(PART, { send });
  await userEvent.type(screen.getByLabelText('Which harbor is it for?'), 'Brest');
  await userEvent.click(screen.getByRole('button', { name: 'Every week' }));
  await userEvent.click(screen.getByRole('button', { name: 'Send answers' }));
  expect(send).toHaveBeenCalledExactlyOnceWith(
    'Which harbor is it for?\nBrest\n\nHow often should it run?\nEvery week',
  );
  expect(screen.queryByRole('textbox')).toBeNull();
  expect(screen.getByText('Brest')).toBeDefined();
  expect(screen.getByText('Answered.')).toBeDefined();
});

test('the button is disabled until there is an answer', async () => {
  await showCard(PART);
  expect(screen.getByRole('button', { name: 'Send answers' }).hasAttribute('disabled')).toBe(true);
});

test('an answer that could not be sent stays in its field with the error', async () => {
  const send = vi
    .fn<(text: string) => Promise<void>>()
    .mockRejectedValueOnce(new Error('The server is full.'));
  await showCard(PART, { send });
  await userEvent.type(screen.getByLabelText('Which harbor is it for?'), 'Brest');
  await userEvent.click(screen.getByRole('button', { name: 'Send answers' }));
  expect(screen.getByRole('alert').textContent).toContain('The server is full.');
  expect(screen.getByLabelText<HTMLTextAreaElement>('Which harbor is it for?').value).toBe('Brest');
  await userEvent.click(screen.getByRole('button', { name: 'Send answers' }));
  expect(send).toHaveBeenCalledTimes(2);
  expect(screen.getByText('Answered.')).toBeDefined();
});

test('a half-typed answer is kept when the card is mounted again', async () => {
  await showCard(PART);
  await userEvent.type(screen.getByLabelText('Which harbor is it for?'), 'Bre');
  await showCard(PART);
  expect(screen.getByLabelText<HTMLTextAreaElement>('Which harbor is it for?').value).toBe('Bre');
});

test('questions followed by another message are read-only', async () => {
  await showCard(PART, { current: false });
  expect(screen.queryByRole('textbox')).toBeNull();
  expect(screen.getByText('The chat continued without an answer.')).toBeDefined();
});
