import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
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

function response(parts: CopilotMessage['parts'], metadata: MessageMetadata = {}): CopilotMessage {
  return { id: 'turn-1', role: 'assistant', parts, metadata };
}

const USER_MESSAGE = userMessage('q', 'Tides?');
const RESPONSE_PARTS: CopilotMessage['parts'] = [{ type: 'text', text: 'In and out.', state: 'done' }];

describe('a conversation', () => {
  test('shows messages, responses, and the metadata of a response', () => {
    const metadata = { durationMs: 3_200, promptTokens: 1_000, completionTokens: 234, model: 'helm-1' };
    render(
      <Conversation handle={handle({ messages: [USER_MESSAGE, response(RESPONSE_PARTS, metadata)] })} />,
    );
    const log = within(screen.getByRole('log', { name: 'Messages' }));
    expect(log.getByText('Tides?')).toBeTruthy();
    expect(log.getByText('In and out.')).toBeTruthy();
    expect(log.getByText('3.2 s')).toBeTruthy();
    expect(log.getByText('1,234 tokens')).toBeTruthy();
    expect(log.getByText('helm-1')).toBeTruthy();
    expect(log.getByRole('button', { name: 'Copy' })).toBeTruthy();
  });

  test('a failure shows its message, has its code in the details, and can be retried', async () => {
    const retry = vi.fn();
    const failed = response([], { error: '[code:idle_timeout] The model said nothing.', retryable: true });
    render(<Conversation handle={handle({ messages: [USER_MESSAGE, failed], retry })} />);
    const card = within(screen.getByRole('group', { name: 'Something went wrong' }));
    expect(card.getByText('The model said nothing.')).toBeTruthy();
    expect(card.getByText('idle_timeout').closest('details')?.open).toBe(false);
    await userEvent.click(card.getByRole('button', { name: 'Try again' }));
    expect(retry).toHaveBeenCalledOnce();
  });

  test('the last response can be regenerated while no turn is running', async () => {
    const retry = vi.fn();
    const messages = [USER_MESSAGE, response(RESPONSE_PARTS)];
    const { rerender } = render(<Conversation handle={handle({ messages, retry })} />);
    await userEvent.click(screen.getByRole('button', { name: 'Regenerate' }));
    expect(retry).toHaveBeenCalledOnce();
    rerender(<Conversation handle={handle({ messages, retry, busy: true, phase: 'streaming' })} />);
    expect(screen.queryByRole('button', { name: 'Regenerate' })).toBeNull();
  });

  test('a question can be answered until the user writes, also after another response', () => {
    const question = {
      type: 'tool-create_agent',
      toolCallId: 'c',
      state: 'output-available',
      input: {},
      output: {
        type: 'clarification_needed',
        message: '',
        questions: [{ question: 'Where to?', keyword: 'to' }],
      },
    } as CopilotMessage['parts'][number];
    const later: CopilotMessage = { id: 'turn-2', role: 'assistant', parts: RESPONSE_PARTS };
    const messages = [USER_MESSAGE, response([question]), later];
    const client = new QueryClient({ defaultOptions: { queries: { enabled: false } } });
    const show = (shown: CopilotMessage[]) => (
      <QueryClientProvider client={client}>
        <Conversation handle={handle({ messages: shown })} />
      </QueryClientProvider>
    );
    const { rerender } = render(show(messages));
    expect(screen.getByRole('textbox', { name: 'Where to?' })).toBeTruthy();
    rerender(show([...messages, userMessage('a', 'To Brest.')]));
    expect(screen.queryByRole('textbox', { name: 'Where to?' })).toBeNull();
  });

  test('only the last response can be regenerated', () => {
    const failed = response([], { error: '[code:idle_timeout] Silence.' });
    const later: CopilotMessage = { id: 'turn-2', role: 'assistant', parts: RESPONSE_PARTS };
    render(
      <Conversation
        handle={handle({ messages: [USER_MESSAGE, failed, userMessage('r', 'Again?'), later] })}
      />,
    );
    expect(screen.queryByRole('button', { name: 'Try again' })).toBeNull();
    expect(screen.getAllByRole('button', { name: 'Regenerate' })).toHaveLength(1);
  });

  test('a stopped response says so and keeps its text', () => {
    render(
      <Conversation
        handle={handle({ messages: [USER_MESSAGE, response(RESPONSE_PARTS, { stopped: true })] })}
      />,
    );
    expect(screen.getByText('In and out.')).toBeTruthy();
    expect(screen.getByText('Stopped.')).toBeTruthy();
    expect(screen.getByRole('button', { name: 'Regenerate' })).toBeTruthy();
  });

  test('a follow-up is shown in its position inside the response', () => {
    const messages = [{ id: 'f', text: 'Quickly, please' }];
    const parts: CopilotMessage['parts'] = [
      ...RESPONSE_PARTS,
      { type: 'data-pending-drained', data: { count: 1, messages } },
      { type: 'text', text: 'Twice a day.', state: 'done' },
    ];
    render(<Conversation handle={handle({ messages: [USER_MESSAGE, response(parts)] })} />);
    const text = screen.getByTestId('assistant-message').textContent ?? '';
    const positions = ['In and out.', 'Quickly, please', 'Twice a day.'].map((part) => text.indexOf(part));
    expect(positions).toEqual([...positions].sort((a, b) => a - b));
    expect(positions[0]).toBeGreaterThan(-1);
  });

  test('reasoning is collapsed, and shows when it is in progress', () => {
    const parts: CopilotMessage['parts'] = [{ type: 'reasoning', text: 'Hm.', state: 'streaming' }];
    const messages = [USER_MESSAGE, response(parts)];
    const { rerender } = render(
      <Conversation handle={handle({ messages, busy: true, phase: 'streaming' })} />,
    );
    expect(screen.getByText('Thinking…').closest('details')?.open).toBe(false);
    rerender(<Conversation handle={handle({ messages })} />);
    expect(screen.getByText('Reasoning')).toBeTruthy();
  });

  test('before the first group it shows the status, and that the start is slow', () => {
    const { rerender } = render(
      <Conversation handle={handle({ messages: [USER_MESSAGE], busy: true, phase: 'waiting' })} />,
    );
    expect(screen.getByText('Thinking…')).toBeTruthy();
    const slow = handle({
      messages: [USER_MESSAGE],
      busy: true,
      phase: 'waiting',
      slow: true,
      status: 'Reading',
    });
    rerender(<Conversation handle={slow} />);
    expect(screen.getByText('Reading')).toBeTruthy();
    expect(screen.getByText(/Still waiting after 12 seconds/)).toBeTruthy();
  });

  test('a lost connection is shown while the response stays', () => {
    const lost = handle({
      messages: [USER_MESSAGE, response(RESPONSE_PARTS)],
      busy: true,
      phase: 'reconnecting',
    });
    render(<Conversation handle={lost} />);
    expect(screen.getByText(/The response keeps running/)).toBeTruthy();
    expect(screen.getByText('In and out.')).toBeTruthy();
  });

  test('a response is announced when it is complete, not while it streams', () => {
    const messages = [USER_MESSAGE, response(RESPONSE_PARTS)];
    const { rerender } = render(
      <Conversation handle={handle({ messages, busy: true, phase: 'streaming' })} />,
    );
    const announced = () => screen.getAllByRole('status').map((status) => status.textContent);
    expect(announced()).not.toContain('In and out.');
    rerender(<Conversation handle={handle({ messages })} />);
    expect(announced()).toContain('In and out.');
  });

  test('a long message is collapsed until it is expanded', async () => {
    render(<Conversation handle={handle({ messages: [userMessage('q', 'a line\n'.repeat(60))] })} />);
    const more = screen.getByRole('button', { name: 'Show all' });
    expect(more.getAttribute('aria-expanded')).toBe('false');
    await userEvent.click(more);
    expect(screen.getByRole('button', { name: 'Show less' })).toBeTruthy();
  });

  test('a compaction of earlier messages is shown', () => {
    const data = { folded: 12, through: 'm', tokensBefore: 9, tokensAfter: 3, summary: 'We sailed.' };
    const parts: CopilotMessage['parts'] = [{ type: 'data-compaction', data }, ...RESPONSE_PARTS];
    render(<Conversation handle={handle({ messages: [USER_MESSAGE, response(parts)] })} />);
    expect(screen.getByText('Earlier messages were summarized for the model')).toBeTruthy();
  });
});
