import { render, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test } from 'vitest';
import { clearCardState } from '@/tools/card-state';
import { showInChat } from '@/tools/testing/show-card';
import { GuideIndex } from './guide-index';
import { InputCards } from './input-cards';
import { Primitives } from './primitives';
import { Responses } from './responses';

afterEach(clearCardState);

test('a link of the index moves the focus to its response type', async () => {
  const guide = await showInChat(
    <>
      <GuideIndex />
      <Responses />
    </>,
  );
  const [link] = within(guide).getAllByRole('link', { name: 'agent_output' });
  await userEvent.click(link as HTMLElement);
  expect(document.activeElement).toBe(within(guide).getByRole('heading', { name: 'agent_output' }));
});

test('cards that were answered or skipped are read-only', async () => {
  await showInChat(<InputCards />);
  expect(screen.queryByRole('textbox')).toBeNull();
  expect(screen.getByText('Answered.')).toBeDefined();
  expect(screen.getByText('The chat continued without an answer.')).toBeDefined();
  expect(screen.getByText('Started with these inputs.')).toBeDefined();
});

test('every run status has a badge', () => {
  render(<Primitives />);
  for (const label of [
    'Not started',
    'Queued',
    'Running',
    'Needs your approval',
    'Completed',
    'Failed',
    'Stopped',
  ])
    expect(screen.getAllByText(label).length).toBeGreaterThan(0);
});
