import { act, render, screen } from '@testing-library/react';
import { StrictMode, useState } from 'react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { discardSession } from './registry';
import { row, ScriptedServer, SESSION, streamStart, textDelta } from './testing/scripted-server';
import type { SessionHandle } from './types';
import { useSession } from './use-session';

let server: ScriptedServer;
let handle: SessionHandle;

beforeEach(() => {
  server = new ScriptedServer();
});

afterEach(() => {
  discardSession(SESSION);
  vi.unstubAllGlobals();
});

/** Like the page: the URL follows the session. */
function Page({ from = null }: { from?: string | null }) {
  const [id, setId] = useState(from);
  handle = useSession(id);
  if (handle.id && id === null) setId(handle.id);
  return (
    <ul data-key={handle.key}>
      {handle.messages.map((message) => (
        <li key={message.id}>
          {message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')}
        </li>
      ))}
    </ul>
  );
}

test('a new chat keeps its stream when its session is created', async () => {
  render(
    <StrictMode>
      <Page />
    </StrictMode>,
  );
  const { key } = handle;
  await act(() => handle.send('Tides?'));
  expect(handle).toMatchObject({ id: SESSION, key, busy: true });
  (await server.stream(1)).send(...streamStart('turn-1'), textDelta('In and out.'));
  await screen.findByText('In and out.');
  expect(screen.getAllByRole('listitem').map((item) => item.textContent)).toEqual(['Tides?', 'In and out.']);
  expect(server.streams).toHaveLength(1);
});

test('in strict mode a running turn is resumed once', async () => {
  server.rows = [row(1, 'user', { content: 'Tides?' })];
  server.running = 'turn-1';
  render(
    <StrictMode>
      <Page from={SESSION} />
    </StrictMode>,
  );
  (await server.stream(1)).send(...streamStart('turn-1'), textDelta('In and out.'));
  await screen.findByText('In and out.');
  expect(server.streams).toHaveLength(1);
});

test('the failure of the last turn is the error of the session', async () => {
  const metadata = { kind: 'error', code: 'provider_auth', retryable: false };
  server.rows = [row(1, 'user', { content: 'Tides?' }), row(2, 'system', { content: 'No key.', metadata })];
  render(<Page from={SESSION} />);
  await vi.waitFor(() =>
    expect(handle.error).toEqual({ code: 'provider_auth', message: 'No key.', canRetry: false }),
  );
});
