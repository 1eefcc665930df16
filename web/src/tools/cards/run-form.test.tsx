import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test } from 'vitest';
import { EXAMPLES, type Example, partOf } from '@/styleguide/fixtures';
import { clearCardState } from '../card-state';
import { showCard } from '../testing/show-card';

afterEach(clearCardState);

function details(title: string) {
  return partOf(EXAMPLES.agent_details.find((example) => example.title === title) as Example);
}

test('a half-filled form is kept when the card is closed or mounted again', async () => {
  const card = await showCard(details('With a form'));
  const customer = () => screen.getByLabelText<HTMLInputElement>(/Customer/);
  await userEvent.type(customer(), 'Blo');
  const row = within(card).getByRole('button', { name: /Inputs for Invoice calculator/ });
  await userEvent.click(row);
  await userEvent.click(row);
  expect(customer().value).toBe('Blo');
  await showCard(details('With a form'));
  expect(customer().value).toBe('Blo');
});

test('an agent that needs a secret links to the library instead of showing a form', async () => {
  await showCard(details('Needs a secret'));
  expect(screen.getByText(/It needs a secret/)).toBeDefined();
  expect(screen.queryByRole('button', { name: 'Run agent' })).toBeNull();
  expect(screen.getByRole('link', { name: 'run it from the library' }).getAttribute('href')).toBe(
    '/library/agents/c0ffee00-entry',
  );
});

test('an agent that needs a file and is not in the library has no link', async () => {
  await showCard(details('Needs a file, not in the library'));
  expect(
    screen.getByText(
      'It needs a file, which is too large for a message. Add the agent to your library to run it.',
    ),
  ).toBeDefined();
  expect(screen.queryByRole('button', { name: 'Run agent' })).toBeNull();
});

test('an agent links to the graph of its version', async () => {
  await showCard(details('With a form'));
  expect(screen.getByRole('link', { name: 'View graph' }).getAttribute('href')).toBe(
    '/build?flowID=5bb58492-graph&flowVersion=1',
  );
  await showCard(partOf(EXAMPLES.agents_found[1] as Example));
  expect(screen.getByRole('link', { name: 'View graph of Tide table' }).getAttribute('href')).toBe(
    '/build?flowID=5bb58492-graph&flowVersion=2',
  );
});
