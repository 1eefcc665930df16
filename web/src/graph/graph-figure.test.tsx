import { act, screen } from '@testing-library/react';
import { afterEach, expect, it, vi } from 'vitest';
import type { NodeState } from '@/executions/execution-state';
import type { GraphDetails } from '@/protocol';
import { serve, show } from '@/testing/fake-server';
import { GraphFigure } from './graph-figure';

const graph = { id: 'g', name: 'Tides', nodes: [{ id: 'n', block_id: 'b' }] } as unknown as GraphDetails;
const state = { nodeId: 'n', status: 'COMPLETED', runs: 1, failed: 0 } as NodeState;

afterEach(() => vi.unstubAllGlobals());

it('the text version is in the page while collapsed, and follows the run while open', async () => {
  serve({ 'GET /api/blocks': () => [] });
  show(<GraphFigure graph={graph} nodes={new Map([['n', state]])} />);
  const details = screen.getByText('Text version').closest('details') as HTMLDetailsElement;
  expect(details.textContent).toContain('Missing block');
  expect(details.textContent).not.toContain('Completed');
  details.open = true;
  act(() => {
    details.dispatchEvent(new Event('toggle'));
  });
  expect(details.textContent).toContain('Completed');
});
