import { act, screen } from '@testing-library/react';
import { afterEach, expect, it, vi } from 'vitest';
import type { NodeState } from '@/library/run/run-state';
import type { GraphDetails } from '@/protocol';
import { serve, show } from '@/testing/fake-server';
import { GraphFigure } from './graph-figure';

const graph = { id: 'g', name: 'Tides', nodes: [{ id: 'n', block_id: 'b' }] } as unknown as GraphDetails;
const state = { nodeId: 'n', status: 'COMPLETED', runs: 1, failed: 0 } as NodeState;

afterEach(() => vi.unstubAllGlobals());

it('the graph in words can be found while it is folded, and follows the run when it is open', async () => {
  serve({ 'GET /api/blocks': () => [] });
  show(<GraphFigure graph={graph} nodes={new Map([['n', state]])} />);
  const words = screen.getByText('The graph in words').closest('details') as HTMLDetailsElement;
  expect(words.textContent).toContain('A block that is not here');
  expect(words.textContent).not.toContain('Completed');
  words.open = true;
  act(() => {
    words.dispatchEvent(new Event('toggle'));
  });
  expect(words.textContent).toContain('Completed');
});
