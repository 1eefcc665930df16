import { act, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { ApiError } from '@/api/problem';
import type { SessionHandle } from '@/session/types';
import { Composer } from './composer';
import { draftOf, putDraft } from './drafts';

const IDLE: SessionHandle = {
  key: 'k',
  id: 's1',
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
  dropFollowUp: () => {},
  hasOlder: false,
  loadingOlder: false,
  loadOlder: () => {},
  send: async () => {},
  stop: () => {},
  retry: () => {},
  reload: () => {},
};

const field = () => screen.getByRole<HTMLTextAreaElement>('textbox');

beforeEach(() => {
  sessionStorage.clear();
  for (const id of [null, 's1', 's2']) putDraft(id, '');
});

describe('writing', () => {
  test('Enter sends the message and the field keeps the focus', async () => {
    const send = vi.fn(async () => {});
    render(<Composer handle={{ ...IDLE, send }} />);
    await userEvent.type(field(), 'Hello{Enter}');
    expect(send).toHaveBeenCalledExactlyOnceWith('Hello');
    expect(field().value).toBe('');
    expect(document.activeElement).toBe(field());
  });

  test('Shift+Enter starts a new line', async () => {
    const send = vi.fn(async () => {});
    render(<Composer handle={{ ...IDLE, send }} />);
    await userEvent.type(field(), 'a{Shift>}{Enter}{/Shift}b');
    expect(send).not.toHaveBeenCalled();
    expect(field().value).toBe('a\nb');
  });

  test('Enter that confirms an input method composition does not send', async () => {
    const send = vi.fn(async () => {});
    render(<Composer handle={{ ...IDLE, send }} />);
    await userEvent.type(field(), 'にほん');
    act(() => {
      field().dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true }));
    });
    expect(send).not.toHaveBeenCalled();
  });

  test('on a touch screen Enter starts a new line and the button sends', async () => {
    vi.stubGlobal('matchMedia', () => ({ matches: true, addEventListener() {}, removeEventListener() {} }));
    const send = vi.fn(async () => {});
    render(<Composer handle={{ ...IDLE, send }} />);
    await userEvent.type(field(), 'a{Enter}b');
    expect(send).not.toHaveBeenCalled();
    await userEvent.click(screen.getByRole('button', { name: 'Send' }));
    expect(send).toHaveBeenCalledWith('a\nb');
    vi.unstubAllGlobals();
  });

  test('whitespace alone cannot be sent', async () => {
    render(<Composer handle={IDLE} />);
    await userEvent.type(field(), '  ');
    expect(screen.getByRole('button', { name: 'Send' })).toHaveProperty('disabled', true);
  });

  test('a text over the limit shows by how much and cannot be sent', () => {
    // Each of these is one character for the server and two in JavaScript.
    putDraft('s1', '🛟'.repeat(64_001));
    render(<Composer handle={IDLE} />);
    expect(screen.getByText('1 character over the limit')).toBeTruthy();
    expect(screen.getByRole('button', { name: 'Send' })).toHaveProperty('disabled', true);
  });
});

describe('the draft is kept', () => {
  test('separately for each session, and after a reload', async () => {
    const { rerender } = render(<Composer key="1" handle={IDLE} />);
    await userEvent.type(field(), 'half a thought');
    rerender(<Composer key="2" handle={{ ...IDLE, id: 's2' }} />);
    expect(field().value).toBe('');
    rerender(<Composer key="3" handle={IDLE} />);
    expect(field().value).toBe('half a thought');
    expect(sessionStorage.getItem('pilothouse.draft.s1')).toBe('half a thought');
  });

  test('until the server has accepted the message', async () => {
    let take: () => void = () => {};
    const send = () => new Promise<void>((resolve) => (take = resolve));
    render(<Composer handle={{ ...IDLE, send }} />);
    await userEvent.type(field(), 'precious{Enter}');
    expect(field().value).toBe('');
    expect(sessionStorage.getItem('pilothouse.draft.s1')).toBe('precious');
    await act(async () => take());
    expect(sessionStorage.getItem('pilothouse.draft.s1')).toBeNull();
  });

  test('and restored before newer text when the message is refused', async () => {
    let refuse: (error: Error) => void = () => {};
    const send = () => new Promise<void>((_, reject) => (refuse = reject));
    render(<Composer handle={{ ...IDLE, send }} />);
    await userEvent.type(field(), 'first{Enter}second');
    await act(async () => refuse(new ApiError(429, 'TOO_MANY', 'Too many responses are running.', 5)));
    expect(field().value).toBe('first\n\nsecond');
    expect(screen.getByRole('alert').textContent).toBe('Too many responses are running.');
    expect(screen.getByText(/Try again in 5 s/)).toBeTruthy();
  });

  test('when the server is unreachable, with a notice', async () => {
    const send = async () => {
      throw new ApiError(0, 'UNREACHABLE', "Can't reach the server.");
    };
    render(<Composer handle={{ ...IDLE, send }} />);
    await userEvent.type(field(), 'hello{Enter}');
    expect(field().value).toBe('hello');
    expect((await screen.findByRole('alert')).textContent).toContain('Your message is saved here');
  });

  test('when a new chat gets its session id while sending', async () => {
    let refuse: (error: Error) => void = () => {};
    const send = () => new Promise<void>((_, reject) => (refuse = reject));
    const { rerender } = render(<Composer handle={{ ...IDLE, id: null, send }} />);
    await userEvent.type(field(), 'first{Enter}second');
    rerender(<Composer handle={{ ...IDLE, id: 's2', send }} />);
    expect(field().value).toBe('second');
    await act(async () => refuse(new ApiError(422, 'INVALID', 'No.')));
    expect(field().value).toBe('first\n\nsecond');
    expect(draftOf(null)).toBe('');
  });

  test('when the page is opened with another text', () => {
    putDraft('s1', 'mine');
    render(<Composer handle={IDLE} initialText="theirs" />);
    expect(field().value).toBe('mine');
  });

  test('an empty field takes the text the page was opened with', () => {
    render(<Composer handle={IDLE} initialText="theirs" />);
    expect(field().value).toBe('theirs');
    expect(document.activeElement).toBe(field());
  });
});

describe('while a turn is running', () => {
  const BUSY: SessionHandle = { ...IDLE, phase: 'streaming', busy: true };

  test('the button stops it, and text is sent as a follow-up', async () => {
    const send = vi.fn(async () => {});
    const stop = vi.fn();
    render(<Composer handle={{ ...BUSY, send, stop }} />);
    expect(screen.queryByRole('button', { name: 'Send follow-up' })).toBeNull();
    await userEvent.type(field(), 'also this');
    await userEvent.click(screen.getByRole('button', { name: 'Send follow-up' }));
    expect(send).toHaveBeenCalledWith('also this');
    await userEvent.click(screen.getByRole('button', { name: 'Stop' }));
    expect(stop).toHaveBeenCalledOnce();
  });

  test('Ctrl+. stops it and Escape does not', async () => {
    const stop = vi.fn();
    render(<Composer handle={{ ...BUSY, stop }} />);
    await userEvent.keyboard('{Escape}');
    expect(stop).not.toHaveBeenCalled();
    await userEvent.keyboard('{Control>}.{/Control}');
    expect(stop).toHaveBeenCalledOnce();
  });

  test('a returned follow-up can be put back into the field', async () => {
    const dropFollowUp = vi.fn();
    const followUps = [
      { id: 'f1', text: 'one more', state: 'returned' as const },
      { id: 'f2', text: 'queued text', state: 'waiting' as const },
    ];
    putDraft('s1', 'mine');
    render(<Composer handle={{ ...IDLE, followUps, dropFollowUp }} />);
    expect(screen.getByText('Queued')).toBeTruthy();
    await userEvent.click(screen.getByRole('button', { name: 'Edit and resend' }));
    expect(field().value).toBe('one more\n\nmine');
    expect(dropFollowUp).toHaveBeenCalledWith('f1');
  });
});
