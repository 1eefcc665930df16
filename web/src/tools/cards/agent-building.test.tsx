import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { ApiError } from '@/api/problem';
import { clearSpecDrafts, NEW_AGENT, readDraft, takeProposedText } from '@/graph/spec/spec-drafts';
import { fixtureClient } from '@/styleguide/fixture-provider';
import { EXAMPLES, type Example, partOf } from '@/styleguide/fixtures';
import { TIDES } from '@/styleguide/fixtures/building';
import { clearCardState } from '../card-state';
import { showCard } from '../testing/show-card';
import { pageOf } from './links';

afterEach(() => {
  clearCardState();
  clearSpecDrafts();
});

type BuildingType =
  | 'agent_preview'
  | 'agent_saved'
  | 'agent_builder_validation_result'
  | 'agent_builder_fix_result'
  | 'task_decomposition'
  | 'agent_builder_guide';

function exampleOf(type: BuildingType | 'error', title: string): Example {
  return (EXAMPLES[type] as Example[]).find((example) => example.title === title) as Example;
}

function show(type: BuildingType, title: string): Promise<HTMLElement> {
  return showCard(partOf(exampleOf(type, title)));
}

test('a preview shows the graph, the folded spec and the state', async () => {
  const card = await show('agent_preview', 'New agent');
  expect(await screen.findByRole('group', { name: 'Graph of Morning tides' })).toBeDefined();
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
  expect(href('Rehearse')).toBe('/build?flowID=5bb58492-graph&tab=rehearse');
  expect(screen.getByText('Ready, verified')).toBeDefined();
});

test('a saved agent shows the picture of its version', async () => {
  await show('agent_saved', 'Ready');
  expect(await screen.findByRole('group', { name: 'Graph of Morning tides' })).toBeDefined();
});

test('a version that was deleted has no picture', async () => {
  const client = fixtureClient();
  const queryKey = ['graph', TIDES.id, 1];
  const error = new ApiError(404, 'GRAPH_NOT_FOUND', 'Not found.');
  client.removeQueries({ queryKey });
  client.getQueryCache().build(client, { queryKey }).setState({ status: 'error', error });
  await showCard(partOf(exampleOf('agent_saved', 'Ready')), { client });
  expect(screen.getByText('This version is no longer available.')).toBeDefined();
});

test('a saved agent is run, or asked for again, with one message', async () => {
  const send = vi.fn(async () => {});
  await showCard(partOf(exampleOf('agent_saved', 'Ready')), { send });
  await userEvent.click(screen.getByRole('button', { name: 'Run' }));
  expect(send).toHaveBeenLastCalledWith('Run the agent “Morning tides” (c0ffee00-entry).');
  expect(screen.getByText('Run requested.')).toBeDefined();
  await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
  expect(send).toHaveBeenLastCalledWith('Try again: Tell me the tides every morning');
});

test('an agent that cannot run has no buttons to run and rehearse it', async () => {
  await show('agent_saved', 'Blocked');
  expect(screen.queryByRole('button', { name: 'Run' })).toBeNull();
  expect(screen.queryByRole('link', { name: 'Rehearse' })).toBeNull();
});

test('a preview is saved with a message, once', async () => {
  const send = vi.fn(async () => {});
  await showCard(partOf(exampleOf('agent_preview', 'New agent')), { send });
  await userEvent.click(screen.getByRole('button', { name: 'Save' }));
  expect(send).toHaveBeenLastCalledWith('Save the agent “Morning tides”.');
  expect(screen.queryByRole('button', { name: 'Save' })).toBeNull();
});

test('a preview in an earlier part of the chat can only be opened', async () => {
  await showCard(partOf(exampleOf('agent_preview', 'New agent')), { current: false });
  expect(screen.queryByRole('button', { name: /^(Save|Try again)$/ })).toBeNull();
  expect(screen.getByRole('button', { name: 'Open in builder' })).toBeDefined();
});

test('a preview opens in the builder as unsaved text', async () => {
  await show('agent_preview', 'New agent');
  await userEvent.click(screen.getByRole('button', { name: 'Open in builder' }));
  expect(readDraft(NEW_AGENT)?.text).toContain('name: Morning tides');
  await show('agent_preview', 'Changed agent with warnings');
  await userEvent.click(screen.getByRole('button', { name: 'Open in builder' }));
  expect(takeProposedText(TIDES.id as string)).toContain('name: Morning tides');
});

test('an error with problems lists them, and one with a newer version shows what changed', async () => {
  await showCard(partOf(exampleOf('error', 'An agent with errors')));
  expect(screen.getByText(/has no output `respnse`/)).toBeDefined();
  expect(screen.queryByText('Details', { selector: 'span' })).toBeNull();
  await showCard(partOf(exampleOf('error', 'An agent that was changed meanwhile')));
  expect(screen.getByText('What changed up to version 3')).toBeDefined();
  expect(screen.getByText('~ check.value2: 3.5 → 4')).toBeDefined();
});

test('a failed generator can be asked again', async () => {
  const send = vi.fn(async () => {});
  await showCard(partOf(exampleOf('error', 'The generator took too long')), { send });
  expect(screen.getByText('generation_failed:timeout')).toBeDefined();
  await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
  expect(send).toHaveBeenLastCalledWith('Try again: Tell me the tides every morning');
  await showCard(partOf(exampleOf('error', 'Rejected')), { open: true });
  expect(screen.queryByRole('button', { name: 'Try again' })).toBeNull();
});

test('a plan is built with a message, unless the copilot is working on it', async () => {
  const send = vi.fn(async () => {});
  const plan = partOf(exampleOf('task_decomposition', 'Plan'));
  await showCard(plan, { busy: true });
  expect(screen.queryByRole('button', { name: 'Build this agent' })).toBeNull();
  await showCard(plan, { send });
  await userEvent.click(screen.getByRole('button', { name: 'Build this agent' }));
  expect(send).toHaveBeenLastCalledWith(
    'Build an agent for this goal: Tell me the tides every morning, and warn me of high water.',
  );
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
