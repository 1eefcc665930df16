import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test } from 'vitest';
import { EXAMPLES, type Example, partOf } from '@/styleguide/fixtures';
import { clearCardState } from '../card-state';
import { showCard } from '../testing/show-card';
import { pageOf } from './links';

afterEach(clearCardState);

type BuildingType =
  | 'agent_preview'
  | 'agent_saved'
  | 'agent_builder_validation_result'
  | 'agent_builder_fix_result'
  | 'task_decomposition'
  | 'agent_builder_guide';

function show(type: BuildingType, title: string): Promise<HTMLElement> {
  const example = (EXAMPLES[type] as Example[]).find((example) => example.title === title);
  return showCard(partOf(example as Example));
}

test('a preview shows the graph, the folded spec and the state', async () => {
  const card = await show('agent_preview', 'New agent');
  expect(await screen.findByRole('region', { name: 'Graph of Morning tides' })).toBeDefined();
  expect(screen.getByText('Ready, rehearsed')).toBeDefined();
  expect(within(card).getByText('Spec').closest('details')?.open).toBe(false);
  expect(card.textContent).toContain('block: Send Web Request');
});

test('a preview of a change shows its lines and warnings', async () => {
  await show('agent_preview', 'Changed agent with warnings');
  const line = (text: string) =>
    screen.getByText((_, element) => element?.textContent === text, { selector: 'li' });
  expect(line('+ step check: Condition').className).toContain('text-good');
  expect(line('    value2: 3.5').className).toContain('text-good');
  expect(line('- step log: Print To Console').className).toContain('text-bad');
  expect(screen.getByText('2 warnings')).toBeDefined();
  expect(screen.getByText('Valid, not ready yet')).toBeDefined();
});

test('an agent without blocks has no picture', async () => {
  await show('agent_preview', 'With errors, without blocks');
  expect(screen.queryByText('Text version')).toBeNull();
});

test('a saved agent leads to the pages that the response names', async () => {
  await show('agent_saved', 'Verified, a new version');
  const href = (name: string) => screen.getByRole('link', { name }).getAttribute('href');
  expect(href('Open in library')).toBe('/library/agents/c0ffee00-entry');
  expect(href('Open in builder')).toBe('/build?flowID=5bb58492-graph');
  expect(screen.getByText('Ready, verified')).toBeDefined();
});

test('only links to pages of this app are followed', () => {
  expect(pageOf('https://elsewhere.example/')).toBeNull();
  expect(pageOf('//elsewhere.example/')).toBeNull();
  expect(pageOf('/\\elsewhere.example/')).toBeNull();
  expect(pageOf('javascript:alert(1)')).toBeNull();
  expect(pageOf('')).toBeNull();
  expect(pageOf('/build?flowID=g&flowVersion=2')).toEqual({
    to: '/build',
    search: { flowID: 'g', flowVersion: 2 },
  });
});

test('errors are grouped by step, with what was expected', async () => {
  const card = await show('agent_builder_validation_result', 'With errors');
  const group = within(card).getAllByText('page')[0]?.closest('li') as HTMLElement;
  expect(within(group).getByText(/There is no block/)).toBeDefined();
  expect(within(group).getByText(/inputs.harbour refers/)).toBeDefined();
  expect(within(group).queryByText('type_mismatch')).toBeNull();
  expect(within(group).getByText('Send Web Request')).toBeDefined();
  expect(within(card).getByText('The whole agent')).toBeDefined();
});

test('a long list of errors is cut', async () => {
  const card = await show('agent_builder_validation_result', 'Many errors');
  expect(within(card).getAllByText('missing_input')).toHaveLength(20);
  expect(within(card).getByText('… and 44 more')).toBeDefined();
});

test('the result of a valid agent is closed until it is opened', async () => {
  await show('agent_builder_validation_result', 'Valid with warnings');
  const row = screen.getByRole('button', { name: /The agent has no errors/ });
  expect(row.getAttribute('aria-expanded')).toBe('false');
  await userEvent.click(row);
  expect(screen.getByText('No errors found.')).toBeDefined();
  expect(screen.getByText('unused_input')).toBeDefined();
});

test('a fix shows what was fixed, what changed and what remains', async () => {
  await show('agent_builder_fix_result', 'All fixed');
  expect(screen.getByText('The agent has no errors now.')).toBeDefined();
  expect(screen.getByText('Written to agents/morning-tides.json')).toBeDefined();
  expect(screen.getByText('~ step page: Send Web Reqest → Send Web Request')).toBeDefined();
  await show('agent_builder_fix_result', 'Errors remain');
  expect(screen.getByText('2 errors left')).toBeDefined();
  await show('agent_builder_fix_result', 'Nothing fixed');
  expect(screen.getByText('1 error left')).toBeDefined();
});

test('a plan is a numbered list', async () => {
  const card = await show('task_decomposition', 'Plan');
  expect(within(card).getAllByRole('listitem')).toHaveLength(5);
  expect(within(card).getByText('Connect blocks')).toBeDefined();
  expect(within(card).getByText('AI text generator')).toBeDefined();
});

test('the guide is folded', async () => {
  const card = await show('agent_builder_guide', 'Folded');
  await userEvent.click(within(card).getByRole('button', { name: /Read the agent building guide/ }));
  expect(within(card).getByText('Show the guide').closest('details')?.open).toBe(false);
});
