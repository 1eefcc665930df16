// Shared setup for the tests of a session's runtime: a scripted server, and cleanup of everything a test opens.

import { afterEach, beforeEach, expect, vi } from 'vitest';
import { SessionRuntime } from '../runtime';
import { visibleMessages } from '../visible-messages';
import { row, ScriptedServer, SESSION, type ServerStream, streamStart, textDelta } from './scripted-server';

export let server: ScriptedServer;
let cleanups: (() => void)[];

beforeEach(() => {
  server = new ScriptedServer();
  cleanups = [];
});

afterEach(() => {
  for (const end of cleanups) end();
  vi.unstubAllGlobals();
});

/** Runs these when the test cleanups. */
export function onTestEnd(...all: (() => void)[]): void {
  cleanups.push(...all);
}

export function open(id: string | null = SESSION): SessionRuntime {
  const runtime = new SessionRuntime(id);
  const unobserve = runtime.observe();
  onTestEnd(() => {
    unobserve();
    runtime.close();
  });
  return runtime;
}

export const phase = (runtime: SessionRuntime) => runtime.store.get().phase;
export const until = (check: () => void) => vi.waitFor(check, { timeout: 3_000, interval: 5 });
export const untilPhase = (runtime: SessionRuntime, wanted: string) =>
  until(() => expect(phase(runtime)).toBe(wanted));
/** The visible messages, as `user: Hello`. */
export const transcript = (runtime: SessionRuntime) =>
  visibleMessages(runtime.chat.messages, runtime.transcript.beforeReplay).map(
    ({ role, parts }) => `${role}: ${parts.map((part) => (part.type === 'text' ? part.text : '')).join('')}`,
  );
export const untilShown = (runtime: SessionRuntime, wanted: string[]) =>
  until(() => expect(transcript(runtime)).toEqual(wanted));
/** Ends the retry delays, which stop when the browser comes online. */
export const goOnline = () => dispatchEvent(new Event('online'));

export const USER_ROW = row(1, 'user', { content: 'Tides?' });
export const ASSISTANT_ROW = row(2, 'assistant', { content: 'In and out.' });

/** A session in the middle of its first response. */
export async function runningSession(): Promise<{ runtime: SessionRuntime; stream: ServerStream }> {
  server.rows = [USER_ROW];
  server.running = 'turn-1';
  const runtime = open();
  const stream = (await server.stream(1)).send(...streamStart('turn-1'), textDelta('In '));
  await untilShown(runtime, ['user: Tides?', 'assistant: In ']);
  await untilPhase(runtime, 'streaming');
  return { runtime, stream };
}
