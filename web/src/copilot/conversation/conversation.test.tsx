import { render, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, test, vi } from 'vitest';
import { userMessage } from '@/session/history';
import type { CopilotMessage, MessageMetadata, SessionHandle } from '@/session/types';
import { Conversation } from './conversation';

function handle(change: Partial<SessionHandle>): SessionHandle {
  return {
    key: 'k',
    id: 's',
    title: null,
    parentId: null,
    messages: [],
    phase: 'ready',
    busy: false,
    slow: false,
    status: null,
    busySince: null,
    loadError: null,
    error: null,
    followUps: [],
    hasOlder: false,
    loadingOlder: false,
    dropFollowUp: () => {},
    loadOlder: () => {},
    send: async () => {},
    stop: () => {},
    retry: () => {},
    reload: () => {},
    ...change,
  };
}

function answer(parts: CopilotMessage['parts'], metadata: MessageMetadata = {}): CopilotMessage {
  return { id: 'turn-1', role: 'assistant', parts, metadata };
}

const ASKED = userMessage('q', 'Tides?');
const SAID: CopilotMessage['parts'] = [{ type: 'text', text: 'In and out.', state: 'done' }];

describe('a conversation', () => {
  test('shows questions, answers, and what is known about an answer', () => {
    const facts = { durationMs: 3_200, promptTokens: 1_000, completionTokens: 234, model: 'helm-1' };
    render(<Conversation handle={handle({ messages: [ASKED, answer(SAID, facts)] })} />);
    const log = within(screen.getByRole('log', { name: 'Messages' }));
    expect(log.getByText('Tides?')).toBeTruthy();
    expect(log.getByText('In and out.')).toBeTruthy();
    expect(log.getByText('3.2 s')).toBeTruthy();
    expect(log.getByText('1,234 tokens')).toBeTruthy();
    expect(log.getByText('helm-1')).toBeTruthy();
    expect(log.getByRole('button', { name: 'Copy the answer' })).toBeTruthy();
  });

  test('a failure says why, has its code behind a fold, and can be tried again', async () => {
    const retry = vi.fn();
    const failed = answer([], { error: '[code:idle_timeout] The model said nothing.', retryable: true });
    render(<Conversation handle={handle({ messages: [ASKED, failed], retry })} />);
    const card = within(screen.getByRole('group', { name: 'The turn failed' }));
    expect(card.getByText('The model said nothing.')).toBeTruthy();
    expect(card.getByText('idle_timeout').closest('details')?.open).toBe(false);
    await userEvent.click(card.getByRole('button', { name: 'Try again' }));
    expect(retry).toHaveBeenCalledOnce();
  });

  test('the last answer can be given again while nothing is at work', async () => {
    const retry = vi.fn();
    const messages = [ASKED, answer(SAID)];
    const { rerender } = render(<Conversation handle={handle({ messages, retry })} />);
    await userEvent.click(screen.getByRole('button', { name: 'Answer again' }));
    expect(retry).toHaveBeenCalledOnce();
    rerender(<Conversation handle={handle({ messages, retry, busy: true, phase: 'streaming' })} />);
    expect(screen.queryByRole('button', { name: 'Answer again' })).toBeNull();
  });

  test('only the last answer can be given again', () => {
    const failed = answer([], { error: '[code:idle_timeout] Silence.' });
    const later: CopilotMessage = { id: 'turn-2', role: 'assistant', parts: SAID };
    render(
      <Conversation handle={handle({ messages: [ASKED, failed, userMessage('r', 'Again?'), later] })} />,
    );
    expect(screen.queryByRole('button', { name: 'Try again' })).toBeNull();
    expect(screen.getAllByRole('button', { name: 'Answer again' })).toHaveLength(1);
  });

  test('a stopped answer says so and keeps its words', () => {
    render(<Conversation handle={handle({ messages: [ASKED, answer(SAID, { stopped: true })] })} />);
    expect(screen.getByText('In and out.')).toBeTruthy();
    expect(screen.getByText('This answer was stopped.')).toBeTruthy();
    expect(screen.getByRole('button', { name: 'Answer again' })).toBeTruthy();
  });

  test('a follow-up stands at its place between the words', () => {
    const messages = [{ id: 'f', text: 'Quickly, please' }];
    const parts: CopilotMessage['parts'] = [
      ...SAID,
      { type: 'data-pending-drained', data: { count: 1, messages } },
      { type: 'text', text: 'Twice a day.', state: 'done' },
    ];
    render(<Conversation handle={handle({ messages: [ASKED, answer(parts)] })} />);
    const text = screen.getByTestId('answer').textContent ?? '';
    const places = ['In and out.', 'Quickly, please', 'Twice a day.'].map((words) => text.indexOf(words));
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(places[0]).toBeGreaterThan(-1);
  });

  test('thoughts are folded, and say when they go on', () => {
    const parts: CopilotMessage['parts'] = [{ type: 'reasoning', text: 'Hm.', state: 'streaming' }];
    const messages = [ASKED, answer(parts)];
    const { rerender } = render(
      <Conversation handle={handle({ messages, busy: true, phase: 'streaming' })} />,
    );
    expect(screen.getByText('Thinking').closest('details')?.open).toBe(false);
    rerender(<Conversation handle={handle({ messages })} />);
    expect(screen.getByText('Thoughts')).toBeTruthy();
  });

  test('while nothing comes it says what the turn does, and that it is slow', () => {
    const { rerender } = render(
      <Conversation handle={handle({ messages: [ASKED], busy: true, phase: 'waiting' })} />,
    );
    expect(screen.getByText('Thinking')).toBeTruthy();
    const slow = handle({ messages: [ASKED], busy: true, phase: 'waiting', slow: true, status: 'Reading' });
    rerender(<Conversation handle={slow} />);
    expect(screen.getByText('Reading')).toBeTruthy();
    expect(screen.getByText(/Nothing has come for 12 seconds/)).toBeTruthy();
  });

  test('a lost connection is said while the answer stays', () => {
    const lost = handle({ messages: [ASKED, answer(SAID)], busy: true, phase: 'reconnecting' });
    render(<Conversation handle={lost} />);
    expect(screen.getByText(/The connection is lost/)).toBeTruthy();
    expect(screen.getByText('In and out.')).toBeTruthy();
  });

  test('an answer is read out when it is whole, not while it grows', () => {
    const messages = [ASKED, answer(SAID)];
    const { rerender } = render(
      <Conversation handle={handle({ messages, busy: true, phase: 'streaming' })} />,
    );
    const spoken = () => screen.getAllByRole('status').map((status) => status.textContent);
    expect(spoken()).not.toContain('In and out.');
    rerender(<Conversation handle={handle({ messages })} />);
    expect(spoken()).toContain('In and out.');
  });

  test('a long question is folded until it is wanted', async () => {
    render(<Conversation handle={handle({ messages: [userMessage('q', 'a line\n'.repeat(60))] })} />);
    const more = screen.getByRole('button', { name: 'Show all' });
    expect(more.getAttribute('aria-expanded')).toBe('false');
    await userEvent.click(more);
    expect(screen.getByRole('button', { name: 'Show less' })).toBeTruthy();
  });

  test('older messages that were summarised are said to be', () => {
    const data = { folded: 12, through: 'm', tokensBefore: 9, tokensAfter: 3, summary: 'We sailed.' };
    const parts: CopilotMessage['parts'] = [{ type: 'data-compaction', data }, ...SAID];
    render(<Conversation handle={handle({ messages: [ASKED, answer(parts)] })} />);
    expect(screen.getByText('Earlier messages were summarised')).toBeTruthy();
  });
});
