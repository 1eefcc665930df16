// A session with very many messages, made without a browser.

import type { Server } from '../harness/server';

/** Questions and answers in turn, of several kinds and lengths. Gives back the session's id. */
export async function longSession(server: Server, messages: number): Promise<string> {
  const sessions = `${server.url}/api/chat/sessions`;
  const { id } = (await post(sessions, {}).then((answer) => answer.json())) as { id: string };
  for (let turn = 0; turn < messages / 2; turn++) {
    // The stream ends with the turn.
    await post(`${sessions}/${id}/stream`, { message: question(turn) }).then((answer) => answer.text());
  }
  return id;
}

function question(turn: number): string {
  if (turn % 50 === 7) return '/help';
  if (turn % 25 === 3) return '/tool read_workspace_file {"path":"chart.txt"}';
  return `/stream count=${2 + (turn % 7) * 3} size=9`;
}

async function post(address: string, body: object): Promise<Response> {
  const answer = await fetch(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${address}: ${answer.status} ${await answer.text()}`);
  return answer;
}
