import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { fixtureClient } from '@/styleguide/fixture-provider';
import { EXAMPLES, type Example, partOf } from '@/styleguide/fixtures';
import { serve } from '@/testing/fake-server';
import { clearCardState } from '../card-state';
import { showCard } from '../testing/show-card';

const PART = partOf(EXAMPLES.review_required[0] as Example);
afterEach(() => {
  vi.unstubAllGlobals();
  clearCardState();
});

test('a decision that could not be sent to the copilot is kept when the card is mounted again', async () => {
  serve({
    'POST /api/review/action': () => ({ approved_count: 1, rejected_count: 0, failed_count: 0, error: null }),
  });
  const send = vi
    .fn<(text: string) => Promise<void>>()
    .mockRejectedValueOnce(new Error('The server is full.'));
  await showCard(PART, { send, client: fixtureClient() });
  await userEvent.click(screen.getByRole('button', { name: /^Approve/ }));
  expect((await screen.findByRole('alert')).textContent).toContain('The server is full.');
  await showCard(PART, { send, client: fixtureClient() });
  await userEvent.click(screen.getByRole('button', { name: 'Continue' }));
  expect(send).toHaveBeenCalledTimes(2);
  expect(send).toHaveBeenLastCalledWith('I have approved Send mail (review review-1). Continue.');
  expect(screen.queryByRole('button', { name: 'Continue' })).toBeNull();
});
