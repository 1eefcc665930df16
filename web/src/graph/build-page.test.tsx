import { act, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { refusal, serve } from '@/testing/fake-server';
import { showAt } from '@/testing/show-at';
import { BuildPage } from './build-page';

const graph = (version: number) => ({ id: 'g', version, name: `Tides ${version}`, nodes: [], links: [] });
const versions = [2, 1].map((version) => ({
  version,
  is_active: version === 2,
  created_at: '2026-11-16T12:00:00Z',
}));

/** The page with a graph of two versions; the second is the active one. */
const showPage = () => showAt({ path: '/build', address: '/build?flowID=g', component: BuildPage });

afterEach(() => vi.unstubAllGlobals());

describe('a graph over the whole page', () => {
  it('keeps the focus on the version picker while another version comes', async () => {
    let answer = () => {};
    serve({
      'GET /api/graphs/g': async ({ query }) => {
        if (query.get('version') !== '1') return graph(2);
        await new Promise<void>((resolve) => {
          answer = resolve;
        });
        return graph(1);
      },
      'GET /api/graphs/g/versions': () => versions,
      'GET /api/blocks': () => [],
    });
    showPage();
    const picker = await screen.findByRole<HTMLSelectElement>('combobox', { name: 'Version' });
    picker.focus();
    await userEvent.selectOptions(picker, '1');
    await waitFor(() => expect(picker.value).toBe('1'));
    expect(screen.getByRole('heading', { name: 'Tides 2' })).toBeTruthy();
    answer();
    await screen.findByRole('heading', { name: 'Tides 1' });
    expect(document.activeElement).toBe(picker);
  });

  it('stays when it cannot be read again', async () => {
    let isAway = false;
    const asked = serve({
      'GET /api/graphs/g': () => (isAway ? refusal(500, 'INTERNAL', 'Something broke.') : graph(2)),
      'GET /api/graphs/g/versions': () => versions,
      'GET /api/blocks': () => [],
    });
    const { client } = showPage();
    await screen.findByRole('heading', { name: 'Tides 2' });
    isAway = true;
    const before = asked.length;
    await act(() => client.invalidateQueries({ queryKey: ['graph', 'g', 'active'] }));
    expect(asked.length).toBe(before + 1);
    expect(screen.getByRole('heading', { name: 'Tides 2' })).toBeTruthy();
    expect(screen.queryByText('Something broke.')).toBeNull();
  });
});
