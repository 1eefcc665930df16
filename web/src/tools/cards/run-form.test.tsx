import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test } from 'vitest';
import { EXAMPLES, type Example, partOf } from '@/styleguide/fixtures';
import { forgetCards } from '../card-memory';
import { showCard } from '../show-card';

afterEach(forgetCards);

function details(title: string) {
  return partOf(EXAMPLES.agent_details.find((example) => example.title === title) as Example);
}

test('half a form survives that the card is folded or built anew', async () => {
  const card = await showCard(details('With a form'));
  const customer = () => screen.getByLabelText<HTMLInputElement>(/Customer/);
  await userEvent.type(customer(), 'Blo');
  const row = within(card).getByRole('button', { name: /What Invoice calculator takes/ });
  await userEvent.click(row);
  await userEvent.click(row);
  expect(customer().value).toBe('Blo');
  await showCard(details('With a form'));
  expect(customer().value).toBe('Blo');
});

test('a secret is not asked for in a conversation, but in the library', async () => {
  await showCard(details('Takes a secret'));
  expect(screen.getByText(/It takes a secret/)).toBeDefined();
  expect(screen.queryByRole('button', { name: 'Run the agent' })).toBeNull();
  expect(screen.getByRole('link', { name: 'run it from the library' }).getAttribute('href')).toBe(
    '/library/agents/c0ffee00-entry',
  );
});

test('a file does not fit into a message, and an agent without an entry is told of in words', async () => {
  await showCard(details('Takes a file, and is not in the library'));
  expect(
    screen.getByText(
      'It takes a file, which is too large for a message. The agent can be run from the library.',
    ),
  ).toBeDefined();
  expect(screen.queryByRole('button', { name: 'Run the agent' })).toBeNull();
});

test('an agent leads to the builder, in its version', async () => {
  await showCard(details('With a form'));
  expect(screen.getByRole('link', { name: 'Open in the builder' }).getAttribute('href')).toBe(
    '/build?flowID=5bb58492-graph&flowVersion=1',
  );
  await showCard(partOf(EXAMPLES.agents_found[1] as Example));
  expect(screen.getByRole('link', { name: 'Open Tide table in the builder' }).getAttribute('href')).toBe(
    '/build?flowID=5bb58492-graph&flowVersion=2',
  );
});
