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

/** Shows a graph with two versions, of which the second is active. */
const showPage = () => showAt({ path: '/build', address: '/build?flowID=g', component: BuildPage });

afterEach(() => vi.unstubAllGlobals());

describe('the graph page', () => {
  it('keeps the focus on the version picker while another version loads', async () => {
    let respond = () => {};
    serve({
      'GET /api/graphs/g': async ({ query }) => {
        if (query.get('version') !== '1') return graph(2);
        await new Promise<void>((resolve) => {
          respond = resolve;
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
    respond();
    await screen.findByRole('heading', { name: 'Tides 1' });
    expect(document.activeElement).toBe(picker);
  });

  it('keeps the graph when fetching it again fails', async () => {
    let isFailing = false;
    const requests = serve({
      'GET /api/graphs/g': () => (isFailing ? refusal(500, 'INTERNAL', 'Something broke.') : graph(2)),
      'GET /api/graphs/g/versions': () => versions,
      'GET /api/blocks': () => [],
    });
    const { client } = showPage();
    await screen.findByRole('heading', { name: 'Tides 2' });
    isFailing = true;
    const before = requests.length;
    await act(() => client.invalidateQueries({ queryKey: ['graph', 'g', 'active'] }));
    expect(requests.length).toBe(before + 1);
    expect(screen.getByRole('heading', { name: 'Tides 2' })).toBeTruthy();
    expect(screen.queryByText('Something broke.')).toBeNull();
  });
});
