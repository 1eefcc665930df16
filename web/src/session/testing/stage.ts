// What every test of a runtime has: a server that is written down, and an end for what it has opened.

import { afterEach, beforeEach, expect, vi } from 'vitest';
import { SessionRuntime } from '../runtime';
import { shown } from '../shown';
import { type Line, opening, row, ScriptedServer, SESSION, words } from './scripted-server';

export let server: ScriptedServer;
let ends: (() => void)[];

beforeEach(() => {
  server = new ScriptedServer();
  ends = [];
});

afterEach(() => {
  for (const end of ends) end();
  vi.unstubAllGlobals();
});

/** Is done when the test is over. */
export function afterwards(...all: (() => void)[]): void {
  ends.push(...all);
}

export function open(id: string | null = SESSION): SessionRuntime {
  const runtime = new SessionRuntime(id);
  const unobserve = runtime.observe();
  afterwards(() => {
    unobserve();
    runtime.close();
  });
  return runtime;
}

export const phase = (runtime: SessionRuntime) => runtime.store.get().phase;
export const until = (check: () => void) => vi.waitFor(check, { timeout: 3_000, interval: 5 });
export const untilPhase = (runtime: SessionRuntime, wanted: string) =>
  until(() => expect(phase(runtime)).toBe(wanted));
/** What stands there, as `user: Hello`. */
export const transcript = (runtime: SessionRuntime) =>
  shown(runtime.chat.messages, runtime.transcript.held).map(
    ({ role, parts }) => `${role}: ${parts.map((part) => (part.type === 'text' ? part.text : '')).join('')}`,
  );
export const untilShown = (runtime: SessionRuntime, wanted: string[]) =>
  until(() => expect(transcript(runtime)).toEqual(wanted));
/** The pauses between attempts end when the browser says that the network is back. */
export const networkIsBack = () => dispatchEvent(new Event('online'));

export const ASKED = row(1, 'user', { content: 'Tides?' });
export const ANSWERED = row(2, 'assistant', { content: 'In and out.' });

/** A session in the middle of its first answer. */
export async function answering(): Promise<{ runtime: SessionRuntime; line: Line }> {
  server.rows = [ASKED];
  server.running = 'turn-1';
  const runtime = open();
  const line = (await server.line(1)).say(...opening('turn-1'), words('In '));
  await untilShown(runtime, ['user: Tides?', 'assistant: In ']);
  await untilPhase(runtime, 'streaming');
  return { runtime, line };
}
