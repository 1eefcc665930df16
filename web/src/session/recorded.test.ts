// Streams of the real server, through the SDK and everything this page makes of them.

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { recorded, recordedNames, streamed } from '@/testing/recorded';
import { SessionRuntime } from './runtime';
import { shown } from './shown';
import { ScriptedServer, SESSION } from './testing/scripted-server';
import type { CopilotPart } from './types';

let server: ScriptedServer;

beforeEach(() => {
  server = new ScriptedServer();
  // What the stream says is to be seen, so the history must not speak over it.
  server.on('GET ', () => new Response(null, { status: 503 }));
});

afterEach(() => vi.unstubAllGlobals());

/** What is shown when the stream has ended. */
async function partsOf(name: string): Promise<CopilotPart[]> {
  server.on('POST /stream', () => streamed(recorded(name)));
  const runtime = new SessionRuntime(SESSION);
  await runtime.send('Go on');
  await vi.waitFor(() => expect(runtime.store.get().phase).toBe('ready'));
  runtime.close();
  return shown(runtime.chat.messages, null).at(-1)?.parts ?? [];
}

const said = (parts: CopilotPart[]) => parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));

describe('a recorded stream', () => {
  for (const name of recordedNames()) {
    test(`${name}: is read to its end, and leaves nothing open`, async () => {
      const open = (await partsOf(name)).filter(
        (part) => 'state' in part && /streaming|input/.test(String(part.state)),
      );
      expect(open).toEqual([]);
    });
  }

  test('of a takeover shows the step that was done again once', async () => {
    const words = said(await partsOf('takeover'));
    expect(words).toEqual(['First a list.', 'The wind is from the west, and it is turning.']);
  });

  test('with a follow-up has it at its place', async () => {
    const kinds = (await partsOf('follow-up')).map((part) => part.type);
    expect(kinds.indexOf('data-pending-drained')).toBeGreaterThan(kinds.indexOf('text'));
    expect(kinds.lastIndexOf('text')).toBeGreaterThan(kinds.indexOf('data-pending-drained'));
  });
});
