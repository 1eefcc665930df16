import { fireEvent, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { GraphDetails } from '@/protocol';
import { serve, show } from '@/testing/fake-server';
import { GraphView } from './graph-view';

const graph = {
  id: 'g',
  version: 1,
  name: 'Tides',
  nodes: [
    { id: 'read', block_id: 'b', metadata: { customized_name: 'Read the table' } },
    { id: 'tell', block_id: 'b' },
  ],
  links: [{ source_id: 'read', source_name: 'out', sink_id: 'tell', sink_name: 'in' }],
} as unknown as GraphDetails;

const BLOCK = { id: 'b', name: 'TellBlock', description: 'Tells.', uiType: 'Standard' };

function showGraph() {
  serve({ 'GET /api/blocks': () => [BLOCK] });
  show(<GraphView graph={graph} className="h-96" />);
}

afterEach(() => vi.unstubAllGlobals());

describe('the graph view', () => {
  test('a node is labeled with its title, also when the blocks load later', async () => {
    showGraph();
    expect(await screen.findByRole('group', { name: 'Read the table' })).toBeTruthy();
    expect(await screen.findByRole('group', { name: 'Tell' })).toBeTruthy();
  });

  test('Enter moves the focus to the panel of a node, and closing it moves the focus back', async () => {
    showGraph();
    const node = await screen.findByRole('group', { name: 'Read the table' });
    node.focus();
    await userEvent.keyboard('{Enter}');
    const panel = await screen.findByRole('region', { name: 'About Read the table' });
    await waitFor(() => expect(document.activeElement).toBe(panel));
    await userEvent.click(screen.getByRole('button', { name: 'Close' }));
    await waitFor(() => expect(screen.queryByRole('region', { name: /About/ })).toBeNull());
    expect(document.activeElement).toBe(node);
  });

  test('a link in the panel opens the linked node, and Escape closes its panel', async () => {
    showGraph();
    (await screen.findByRole('group', { name: 'Read the table' })).focus();
    await userEvent.keyboard('{Enter}');
    (await screen.findByRole('button', { name: /Tell/ })).focus();
    await userEvent.keyboard('{Enter}');
    const panel = await screen.findByRole('region', { name: 'About Tell' });
    await waitFor(() => expect(document.activeElement).toBe(panel));
    await userEvent.keyboard('{Escape}');
    await waitFor(() => expect(screen.queryByRole('region', { name: /About/ })).toBeNull());
    expect(document.activeElement).toBe(screen.getByRole('group', { name: 'Tell' }));
  });

  test('selecting a node with the mouse does not move the focus to the panel', async () => {
    showGraph();
    const node = await screen.findByRole('group', { name: 'Read the table' });
    fireEvent.pointerDown(node);
    fireEvent.click(node);
    const panel = await screen.findByRole('region', { name: 'About Read the table' });
    expect(panel.contains(document.activeElement)).toBe(false);
  });

  test('the arrow keys pan the view while it has the focus', async () => {
    showGraph();
    const view = await screen.findByRole('application');
    const viewport = view.querySelector<HTMLElement>('.react-flow__viewport');
    const before = viewport?.style.transform;
    view.focus();
    await userEvent.keyboard('{ArrowRight}');
    await waitFor(() => expect(viewport?.style.transform).not.toBe(before));
  });
});
