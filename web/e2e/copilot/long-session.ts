// A session with many messages, created without a browser.

import { request, requestJson } from '../harness/requests';
import type { Server } from '../harness/server';

/** Messages and responses of several kinds and lengths. Returns the session id. */
export async function longSession(server: Server, messages: number): Promise<string> {
  const { id } = await requestJson<{ id: string }>(server, '/chat/sessions', {});
  for (let turn = 0; turn < messages / 2; turn++) {
    const stream = await request(server, `/chat/sessions/${id}/stream`, { message: question(turn) });
    // The stream ends with the turn.
    await stream.text();
  }
  return id;
}

function question(turn: number): string {
  if (turn % 50 === 7) return '/help';
  if (turn % 25 === 3) return '/tool read_workspace_file {"path":"chart.txt"}';
  return `/stream count=${2 + (turn % 7) * 3} size=9`;
}
