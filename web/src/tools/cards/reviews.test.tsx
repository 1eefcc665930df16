import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { EXAMPLES, type Example, partOf } from '@/styleguide/fixtures';
import { writtenDown } from '@/styleguide/offline';
import { serve } from '@/testing/fake-server';
import { forgetCards } from '../card-memory';
import { showCard } from '../show-card';

const PART = partOf(EXAMPLES.review_required[0] as Example);
afterEach(() => {
  vi.unstubAllGlobals();
  forgetCards();
});

test('a decision that the copilot was not told of is still known when the card is built anew', async () => {
  serve({
    'POST /api/review/action': () => ({ approved_count: 1, rejected_count: 0, failed_count: 0, error: null }),
  });
  const send = vi
    .fn<(text: string) => Promise<void>>()
    .mockRejectedValueOnce(new Error('The server is full.'));
  await showCard(PART, { send, client: writtenDown() });
  await userEvent.click(screen.getByRole('button', { name: /^Approve/ }));
  expect((await screen.findByRole('alert')).textContent).toContain('The server is full.');
  await showCard(PART, { send, client: writtenDown() });
  await userEvent.click(screen.getByRole('button', { name: 'Continue' }));
  expect(send).toHaveBeenCalledTimes(2);
  expect(send).toHaveBeenLastCalledWith('I have approved Send mail (review review-1). Continue.');
  expect(screen.queryByRole('button', { name: 'Continue' })).toBeNull();
});
