import { render, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test } from 'vitest';
import { forgetCards } from '@/tools/card-memory';
import { showInConversation } from '@/tools/show-card';
import { Answers } from './answers';
import { CardsThatAsk } from './cards-that-ask';
import { GuideIndex } from './guide-index';
import { Primitives } from './primitives';

afterEach(forgetCards);

test('the index takes the focus to the answer it leads to', async () => {
  const guide = await showInConversation(
    <>
      <GuideIndex />
      <Answers />
    </>,
  );
  const [link] = within(guide).getAllByRole('link', { name: 'agent_output' });
  await userEvent.click(link as HTMLElement);
  expect(document.activeElement).toBe(within(guide).getByRole('heading', { name: 'agent_output' }));
});

test('cards that were answered, or passed over, can only be read', async () => {
  await showInConversation(<CardsThatAsk />);
  expect(screen.queryByRole('textbox')).toBeNull();
  expect(screen.getByText('Answered.')).toBeDefined();
  expect(screen.getByText('The conversation has gone on.')).toBeDefined();
  expect(screen.getByText('Sent with these inputs.')).toBeDefined();
});

test('every state of a run has its badge', () => {
  render(<Primitives />);
  for (const words of ['Not started', 'Queued', 'Running', 'Waits for you', 'Completed', 'Failed', 'Stopped'])
    expect(screen.getAllByText(words).length).toBeGreaterThan(0);
});
