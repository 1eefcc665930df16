import type { UIMessage } from 'ai';

const SESSIONS = '/api/chat/sessions';

export const streamUrl = (id: string) => `${SESSIONS}/${id}/stream`;

export async function createSession(): Promise<string> {
  const { id } = await call<{ id: string }>('POST', SESSIONS);
  return id;
}

export async function cancelTurn(id: string): Promise<void> {
  await call('POST', `${SESSIONS}/${id}/cancel`);
}

type Row = { id: string; turn_id: string; role: string; content: string | null };

/** The text of a session. A response has the id of its turn, as in its stream, so that a resumed stream replaces it. */
export async function readHistory(id: string): Promise<UIMessage[]> {
  const { messages: rows } = await call<{ messages: Row[] }>('GET', `${SESSIONS}/${id}?limit=200`);
  const messages: UIMessage[] = [];
  for (const row of rows) {
    if (!row.content || (row.role !== 'user' && row.role !== 'assistant')) continue;
    const part = { type: 'text' as const, text: row.content };
    const last = messages.at(-1);
    if (row.role === 'assistant' && last?.id === row.turn_id) last.parts.push(part);
    else messages.push({ id: row.role === 'user' ? row.id : row.turn_id, role: row.role, parts: [part] });
  }
  return messages;
}

async function call<T>(method: 'GET' | 'POST', path: string): Promise<T> {
  const response = await fetch(path, {
    method,
    ...(method === 'POST' && { headers: { 'content-type': 'application/json' }, body: '{}' }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return response.json();
}
