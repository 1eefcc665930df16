import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, test, vi } from 'vitest';
import { OFFLINE } from '@/api/problem';
import type { Review } from '@/protocol';
import { noConnection, refusal, serve, show } from '@/testing/fake-server';
import { ReviewOfExecution } from './review-of-execution';

const letter: Review = {
  node_exec_id: 'run:1',
  user_id: 'local',
  graph_exec_id: 'run',
  graph_id: 'graph',
  graph_version: 1,
  node_id: 'node',
  payload: 'Dear Ms Ferreira',
  instructions: 'Read the letter.',
  editable: true,
  status: 'WAITING',
  was_edited: false,
  created_at: '2026-11-16T12:00:00Z',
};

/** A run whose reviews change when they are decided. */
function run(...reviews: Review[]) {
  const state = { reviews };
  const requests = serve({
    'GET /api/review/execution/run': () => state.reviews,
    'POST /api/review/action': ({ body }) => {
      const decisions = (body as { reviews: { node_exec_id: string; approved: boolean }[] }).reviews;
      state.reviews = state.reviews.map((review) => {
        const decision = decisions.find((one) => one.node_exec_id === review.node_exec_id);
        return decision ? { ...review, status: decision.approved ? 'APPROVED' : 'REJECTED' } : review;
      });
      const approved_count = decisions.filter((decision) => decision.approved).length;
      return { approved_count, rejected_count: decisions.length - approved_count, failed_count: 0 };
    },
  });
  return {
    state,
    sent: () => requests.filter(({ route }) => route.startsWith('POST')).map(({ body }) => body),
  };
}

describe('reviews of a run', () => {
  test('an edited letter is approved with its changes', async () => {
    const { sent } = run(letter);
    const decided = vi.fn();
    show(<ReviewOfExecution executionId="run" onDecided={decided} />);
    await userEvent.click(await screen.findByRole('button', { name: 'Edit' }));
    await userEvent.type(screen.getByLabelText('Content'), ', ahoy');
    await userEvent.click(screen.getByRole('button', { name: 'Approve with changes' }));
    expect(await screen.findByText('Approved')).toBeTruthy();
    expect(decided).toHaveBeenCalledExactlyOnceWith(true);
    expect(sent()).toEqual([
      {
        reviews: [
          { node_exec_id: 'run:1', approved: true, message: null, reviewed_data: 'Dear Ms Ferreira, ahoy' },
        ],
      },
    ]);
  });

  test('all pending reviews are approved in one request, each with its comment', async () => {
    const { sent } = run(letter, { ...letter, node_exec_id: 'run:2', instructions: 'And the envelope.' });
    show(<ReviewOfExecution executionId="run" />);
    const [, second] = await screen.findAllByLabelText('Comment (optional)');
    if (second) await userEvent.type(second, 'Use the blue one.');
    await userEvent.click(screen.getByRole('button', { name: 'Approve all 2' }));
    await waitFor(() => expect(screen.getAllByText('Approved')).toHaveLength(2));
    expect(sent()).toEqual([
      {
        reviews: [
          { node_exec_id: 'run:1', approved: true, message: null },
          { node_exec_id: 'run:2', approved: true, message: 'Use the blue one.' },
        ],
      },
    ]);
  });

  test('a decision made elsewhere is shown', async () => {
    const reviews = [letter];
    serve({
      'GET /api/review/execution/run': () => reviews,
      'POST /api/review/action': () => {
        reviews[0] = { ...letter, status: 'REJECTED', review_message: 'Not this year.' };
        return refusal(409, 'REVIEW_ALREADY_DECIDED', 'run:1 was already decided.');
      },
    });
    const decided = vi.fn();
    show(<ReviewOfExecution executionId="run" onDecided={decided} />);
    await userEvent.click(await screen.findByRole('button', { name: 'Approve' }));
    expect(await screen.findByText('Not this year.')).toBeTruthy();
    expect(decided).not.toHaveBeenCalled();
  });

  test('the comment is kept when the server is unreachable', async () => {
    serve({ 'GET /api/review/execution/run': () => [letter], 'POST /api/review/action': noConnection });
    show(<ReviewOfExecution executionId="run" />);
    await userEvent.type(await screen.findByLabelText('Comment (optional)'), 'Fine.');
    await userEvent.click(screen.getByRole('button', { name: 'Reject' }));
    expect((await screen.findByRole('alert')).textContent).toContain(OFFLINE);
    expect(screen.getByLabelText<HTMLInputElement>('Comment (optional)').value).toBe('Fine.');
  });

  test('only the requested review is shown', async () => {
    run(letter, { ...letter, node_exec_id: 'run:2', instructions: 'And the envelope.' });
    show(<ReviewOfExecution executionId="run" reviewId="run:2" />);
    expect(await screen.findByText('And the envelope.')).toBeTruthy();
    expect(screen.queryByText('Read the letter.')).toBeNull();
  });
});
