import { act, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, it, vi } from 'vitest';
import { serve } from '@/testing/fake-server';
import { showAt } from '@/testing/show-at';
import { AgentPage } from './agent-page';

const agent = (id: string) => ({
  id,
  graph_id: `graph of ${id}`,
  graph_version: 1,
  name: id,
  description: '',
  input_schema: { type: 'object', properties: { place: { type: 'string', title: 'Place' } } },
  output_schema: {},
  settings: {},
});

afterEach(() => vi.unstubAllGlobals());

it('inputs typed for one agent are not shown for another', async () => {
  serve({
    'GET /api/library/agents/tides': () => agent('tides'),
    'GET /api/library/agents/winds': () => agent('winds'),
  });
  const path = '/library/agents/$id';
  const { router } = showAt({ path, address: '/library/agents/winds', component: AgentPage });
  const go = (id: string) => act(() => router.navigate({ to: path, params: { id } }));
  await screen.findByRole('heading', { name: 'winds' });
  await go('tides');
  await screen.findByRole('heading', { name: 'tides' });
  await userEvent.type(screen.getByLabelText(/Place/), 'Brest');
  // This agent is cached, so its page is rendered without a loading state in between.
  await go('winds');
  await screen.findByRole('heading', { name: 'winds' });
  expect(screen.getByLabelText<HTMLInputElement>(/Place/).value).toBe('');
});
