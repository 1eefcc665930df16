import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { noConnection, serve, show } from '@/testing/fake-server';
import { EmptySession, greeting } from './empty-session';

const PROMPTS = 'GET /api/chat/suggested-prompts';
const ABOUT = 'GET /api/about';
const about = (is_offline: boolean) => ({ model: { provider: 'p', name: 'm', is_offline } });

afterEach(() => vi.unstubAllGlobals());

test('picking a suggestion reports it', async () => {
  serve({ [PROMPTS]: () => ({ themes: [{ name: 'Try', prompts: ['/help', 'Plan a week'] }] }) });
  const onPick = vi.fn();
  show(<EmptySession onPick={onPick} />);
  await userEvent.click(await screen.findByRole('button', { name: 'Plan a week' }));
  expect(onPick).toHaveBeenCalledExactlyOnceWith('Plan a week');
});

test('one category of suggestions is shown at a time', async () => {
  serve({
    [PROMPTS]: () => ({
      themes: [
        { name: 'Learn', prompts: ['one'] },
        { name: 'Create', prompts: ['two'] },
      ],
    }),
  });
  show(<EmptySession onPick={() => {}} />);
  await userEvent.click(await screen.findByRole('button', { name: 'Create', pressed: false }));
  expect(screen.getByRole('button', { name: 'two' })).toBeTruthy();
  expect(screen.queryByRole('button', { name: 'one' })).toBeNull();
});

test('the offline note names the offline pilot and how to connect a model', async () => {
  serve({ [PROMPTS]: () => ({ themes: [] }), [ABOUT]: () => about(true) });
  show(<EmptySession onPick={() => {}} />);
  expect(await screen.findByText('offline pilot')).toBeTruthy();
  expect(screen.getByText('ANTHROPIC_API_KEY')).toBeTruthy();
});

test('with a real model there is no note, and failing suggestions are not an error', async () => {
  const asked = serve({ [PROMPTS]: noConnection, [ABOUT]: () => about(false) });
  show(<EmptySession onPick={() => {}} />);
  await vi.waitFor(() => expect(asked).toHaveLength(2));
  await vi.waitFor(() => expect(screen.queryByRole('status')).toBeNull());
  expect(screen.queryByText('offline pilot')).toBeNull();
  expect(screen.getByRole('heading', { level: 1 })).toBeTruthy();
});

test.each([
  [3, 'Good evening'],
  [5, 'Good morning'],
  [12, 'Good afternoon'],
  [18, 'Good evening'],
])('at hour %i the greeting is %s', (hour, expected) => {
  expect(greeting(hour)).toBe(expected);
});
