// Recorded server streams, processed by the SDK and the session runtime.

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { recorded, recordedNames, streamed } from '@/testing/recorded';
import { SessionRuntime } from './runtime';
import { ScriptedServer, SESSION } from './testing/scripted-server';
import type { CopilotPart } from './types';
import { visibleMessages } from './visible-messages';

let server: ScriptedServer;

beforeEach(() => {
  server = new ScriptedServer();
  // The history is unavailable, so that the test sees only what the stream produced.
  server.on('GET ', () => new Response(null, { status: 503 }));
});

afterEach(() => vi.unstubAllGlobals());

/** The visible parts after the stream has ended. */
async function partsOf(name: string): Promise<CopilotPart[]> {
  server.on('POST /stream', () => streamed(recorded(name)));
  const runtime = new SessionRuntime(SESSION);
  await runtime.send('Continue');
  await vi.waitFor(() => expect(runtime.store.get().phase).toBe('ready'));
  runtime.close();
  return visibleMessages(runtime.chat.messages, null).at(-1)?.parts ?? [];
}

const textsOf = (parts: CopilotPart[]) => parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));

describe('a recorded stream', () => {
  for (const name of recordedNames()) {
    test(`${name}: is read to its end, and leaves no part unfinished`, async () => {
      const open = (await partsOf(name)).filter(
        (part) => 'state' in part && /streaming|input/.test(String(part.state)),
      );
      expect(open).toEqual([]);
    });
  }

  test('of a takeover shows the repeated step once', async () => {
    const texts = textsOf(await partsOf('takeover'));
    expect(texts).toEqual(['First a list.', 'The wind is from the west, and it is turning.']);
  });

  test('with a follow-up shows it in the right position', async () => {
    const kinds = (await partsOf('follow-up')).map((part) => part.type);
    expect(kinds.indexOf('data-pending-drained')).toBeGreaterThan(kinds.indexOf('text'));
    expect(kinds.lastIndexOf('text')).toBeGreaterThan(kinds.indexOf('data-pending-drained'));
  });
});
