// The requests of a session other than those of its stream.

import { api, dataOf } from '@/api/client';
import type { FollowUpView, SessionDetail } from '@/protocol';

/** HistoryRows per page. */
export const PAGE = 50;

export function readSession(
  id: string,
  query: { limit: number; before_sequence?: number },
  signal: AbortSignal,
): Promise<SessionDetail> {
  return dataOf(
    api.GET('/api/chat/sessions/{session_id}', { params: { path: { session_id: id }, query }, signal }),
  );
}

export async function createSession(): Promise<string> {
  return (await dataOf(api.POST('/api/chat/sessions', { body: {} }))).id;
}

export async function cancelSession(id: string, signal: AbortSignal): Promise<void> {
  const path = { session_id: id };
  await dataOf(api.POST('/api/chat/sessions/{session_id}/cancel', { params: { path }, signal }));
}

export async function sendFollowUp(id: string, messageId: string, message: string): Promise<void> {
  const path = { session_id: id };
  const body = { message, message_id: messageId };
  await dataOf(api.POST('/api/chat/sessions/{session_id}/messages/pending', { params: { path }, body }));
}

export async function readFollowUps(id: string, signal: AbortSignal): Promise<FollowUpView[]> {
  const path = { session_id: id };
  const read = api.GET('/api/chat/sessions/{session_id}/messages/pending', { params: { path }, signal });
  return (await dataOf(read)).follow_ups;
}
