import { screen, within } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import type { ExecutionStatus } from '@/protocol';
import { EXAMPLES, type Example, partOf } from '@/styleguide/fixtures';
import { forgetCards } from '../card-memory';
import { showCard } from '../show-card';
import type { ToolPart } from '../types';

afterEach(forgetCards);

function output(title: string): ToolPart {
  const example = EXAMPLES.agent_output.find((example) => example.title === title);
  return partOf(example as Example);
}

function stood(type: 'agent_output' | 'execution_started', status: ExecutionStatus): ToolPart {
  const [output] = EXAMPLES.agent_output;
  const [started] = EXAMPLES.execution_started;
  const execution = { ...output.response.execution, status };
  return type === 'agent_output'
    ? partOf({ ...output, response: { ...output.response, execution } } as Example)
    : partOf({ ...started, response: { ...started.response, status } } as Example);
}

test('a failed run says why', async () => {
  await showCard(output('Failed'));
  expect(
    screen.getByText('Tide table has failed: The harbour office refused the request.').className,
  ).toContain('text-bad');
});

test('a dry run says that it was one', async () => {
  await showCard(output('Dry run'));
  expect(screen.getByText('Dry run, simulated: Tide table has completed.')).toBeDefined();
});

test('an end that the badge tells is not told again', async () => {
  await showCard(output('Stopped'));
  expect(screen.getByText('Stopped')).toBeDefined();
  expect(screen.queryByText(/was stopped before it had ended/)).toBeNull();
});

test.each(['Under way', 'Waits for a decision'])('a run is not said to give nothing: %s', async (title) => {
  await showCard(output(title));
  expect(screen.queryByText('It gave nothing.')).toBeNull();
  expect(screen.queryByText(/is still at work|waits for a person/)).toBeNull();
});

test('a run that has ended without outputs says so', async () => {
  await showCard(output('Failed'));
  expect(screen.getByText('It gave nothing.')).toBeDefined();
});

test.each(['agent_output', 'execution_started'] as const)(
  'the row of %s stands as the run does',
  async (type) => {
    const standing = async (status: ExecutionStatus, when = {}) => {
      const card = await showCard(stood(type, status), when);
      return within(card).getByRole('button', { expanded: true }).textContent?.split(', ').at(-1);
    };
    expect(await standing('COMPLETED')).toBe('done');
    expect(await standing('FAILED')).toBe('failed');
    expect(await standing('TERMINATED')).toBe('stopped');
    expect(await standing('REVIEW')).toBe('waits for you');
    expect(await standing('RUNNING')).toBe('in the background');
    expect(await standing('QUEUED', { live: false })).toBe('done');
  },
);

test('a run leads to the builder, in the version that ran where it is known', async () => {
  await showCard(partOf(EXAMPLES.execution_started[0] as Example));
  expect(screen.getByRole('link', { name: 'Open in the builder' }).getAttribute('href')).toBe(
    '/build?flowID=5bb58492-graph&flowVersion=1',
  );
  await showCard(output('Completed'));
  expect(screen.getByRole('link', { name: 'Open in the builder' }).getAttribute('href')).toBe(
    '/build?flowID=5bb58492-graph',
  );
});

test('other runs lead to their place in the library', async () => {
  const card = await showCard(output('Completed'));
  const others = within(card).getByText('Other runs (2)').closest('details');
  expect(others?.querySelector('a')?.getAttribute('href')).toBe(
    '/library/agents/c0ffee00-entry?activeTab=runs&activeItem=older-run',
  );
});
