import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { EXAMPLES, type Example, partOf } from '@/styleguide/fixtures';
import { forgetCards } from '../card-memory';
import { showCard } from '../show-card';

const PART = partOf(EXAMPLES.clarification_needed[0] as Example);
afterEach(forgetCards);

test('the answers are sent as one message, after which they can only be read', async () => {
  const send = vi.fn(async () => {});
  await showCard(PART, { send });
  await userEvent.type(screen.getByLabelText('Which harbour is it for?'), 'Brest');
  await userEvent.click(screen.getByRole('button', { name: 'Every week' }));
  await userEvent.click(screen.getByRole('button', { name: 'Send the answers' }));
  expect(send).toHaveBeenCalledExactlyOnceWith(
    'Which harbour is it for?\nBrest\n\nHow often should it run?\nEvery week',
  );
  expect(screen.queryByRole('textbox')).toBeNull();
  expect(screen.getByText('Brest')).toBeDefined();
  expect(screen.getByText('Answered.')).toBeDefined();
});

test('nothing can be sent before something was answered', async () => {
  await showCard(PART);
  expect(screen.getByRole('button', { name: 'Send the answers' }).hasAttribute('disabled')).toBe(true);
});

test('a refused answer stays where it was typed, and says why', async () => {
  const send = vi
    .fn<(text: string) => Promise<void>>()
    .mockRejectedValueOnce(new Error('The server is full.'));
  await showCard(PART, { send });
  await userEvent.type(screen.getByLabelText('Which harbour is it for?'), 'Brest');
  await userEvent.click(screen.getByRole('button', { name: 'Send the answers' }));
  expect(screen.getByRole('alert').textContent).toContain('The server is full.');
  expect(screen.getByLabelText<HTMLTextAreaElement>('Which harbour is it for?').value).toBe('Brest');
  await userEvent.click(screen.getByRole('button', { name: 'Send the answers' }));
  expect(send).toHaveBeenCalledTimes(2);
  expect(screen.getByText('Answered.')).toBeDefined();
});

test('half an answer survives that the card is built anew', async () => {
  await showCard(PART);
  await userEvent.type(screen.getByLabelText('Which harbour is it for?'), 'Bre');
  await showCard(PART);
  expect(screen.getByLabelText<HTMLTextAreaElement>('Which harbour is it for?').value).toBe('Bre');
});

test('questions that somebody has written after are only read', async () => {
  await showCard(PART, { current: false });
  expect(screen.queryByRole('textbox')).toBeNull();
  expect(screen.getByText('The conversation has gone on.')).toBeDefined();
});
