import { screen, within } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import type { ExecutionStatus } from '@/protocol';
import { EXAMPLES, type Example, partOf } from '@/styleguide/fixtures';
import { clearCardState } from '../card-state';
import { showCard } from '../testing/show-card';
import type { ToolPart } from '../types';

afterEach(clearCardState);

function output(title: string): ToolPart {
  const example = EXAMPLES.agent_output.find((example) => example.title === title);
  return partOf(example as Example);
}

function partWithStatus(type: 'agent_output' | 'execution_started', status: ExecutionStatus): ToolPart {
  const [output] = EXAMPLES.agent_output;
  const [started] = EXAMPLES.execution_started;
  const execution = { ...output.response.execution, status };
  return type === 'agent_output'
    ? partOf({ ...output, response: { ...output.response, execution } } as Example)
    : partOf({ ...started, response: { ...started.response, status } } as Example);
}

test('a failed run shows its error', async () => {
  await showCard(output('Failed'));
  expect(
    screen.getByText('Tide table has failed: The harbor office refused the request.').className,
  ).toContain('text-bad');
});

test('a dry run is marked as one', async () => {
  await showCard(output('Dry run'));
  expect(screen.getByText('Dry run (simulated): Tide table has completed.')).toBeDefined();
});

test('a message that only repeats the status badge is not shown', async () => {
  await showCard(output('Stopped'));
  expect(screen.getByText('Stopped')).toBeDefined();
  expect(screen.queryByText(/was stopped before/)).toBeNull();
});

test.each(['Running', 'Needs approval'])(
  'an unfinished run is not shown as having no output: %s',
  async (title) => {
    await showCard(output(title));
    expect(screen.queryByText('No output.')).toBeNull();
    expect(screen.queryByText(/has not finished yet|letter needs approval/)).toBeNull();
  },
);

test('a finished run without outputs is shown as having no output', async () => {
  await showCard(output('Failed'));
  expect(screen.getByText('No output.')).toBeDefined();
});

test.each(['agent_output', 'execution_started'] as const)(
  'the row of %s shows the status of the run',
  async (type) => {
    const rowStatus = async (status: ExecutionStatus, context = {}) => {
      const card = await showCard(partWithStatus(type, status), context);
      return within(card).getByRole('button', { expanded: true }).textContent?.split(', ').at(-1);
    };
    expect(await rowStatus('COMPLETED')).toBe('done');
    expect(await rowStatus('FAILED')).toBe('failed');
    expect(await rowStatus('TERMINATED')).toBe('stopped');
    expect(await rowStatus('REVIEW')).toBe('needs your input');
    expect(await rowStatus('RUNNING')).toBe('in the background');
    expect(await rowStatus('QUEUED', { live: false })).toBe('done');
  },
);

test('a run links to its graph, in the version that ran if it is known', async () => {
  await showCard(partOf(EXAMPLES.execution_started[0] as Example));
  expect(screen.getByRole('link', { name: 'View graph' }).getAttribute('href')).toBe(
    '/build?flowID=5bb58492-graph&flowVersion=1',
  );
  await showCard(output('Completed'));
  expect(screen.getByRole('link', { name: 'View graph' }).getAttribute('href')).toBe(
    '/build?flowID=5bb58492-graph',
  );
});

test('other runs link to the library', async () => {
  const card = await showCard(output('Completed'));
  const others = within(card).getByText('Other runs (2)').closest('details');
  expect(others?.querySelector('a')?.getAttribute('href')).toBe(
    '/library/agents/c0ffee00-entry?activeTab=runs&activeItem=older-run',
  );
});
