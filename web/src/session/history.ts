// Converts the rows of a history into messages.

import type { UIMessage } from 'ai';
import { asRecord, parseJson } from '@/lib/json';
import type { CompactionData, MessageView, Usage } from '@/protocol';
import type { CopilotMessage, CopilotPart, MessageMetadata } from './types';

const NO_RESULT = 'No result.';

/**
 * One message per user message and one per turn's response. A response has the id of its turn, as in the stream, so
 * that a replay finds it. A follow-up delivered during a response is a part of that response, as in the stream.
 */
export function messagesOf(rows: readonly MessageView[]): CopilotMessage[] {
  const messages: CopilotMessage[] = [];
  const responses = new Map<string, CopilotMessage>();
  const calls = new Map<string, ToolPartDraft>();

  const responseOf = (row: MessageView): CopilotMessage => {
    const known = responses.get(row.turn_id);
    if (known) return known;
    const created: CopilotMessage = { id: row.turn_id, role: 'assistant', parts: [], metadata: {} };
    responses.set(row.turn_id, created);
    messages.push(created);
    return created;
  };

  for (const row of rows) {
    switch (row.role) {
      case 'user': {
        const response = responses.get(row.turn_id);
        if (response) addFollowUp(response.parts, row);
        else messages.push(userMessage(row.id, row.content, row.created_at));
        break;
      }
      case 'assistant': {
        const response = responseOf(row);
        response.parts.push({ type: 'step-start' }, ...textParts(row));
        for (const call of row.tool_calls ?? []) {
          const part = callWithoutResult(call.id, call.function.name, call.function.arguments);
          calls.set(call.id, part);
          response.parts.push(part as CopilotPart);
        }
        response.metadata = { ...response.metadata, ...metadataOf(row) };
        break;
      }
      case 'tool': {
        // At the edge of a page, the call that belongs to a result may be on the previous page.
        const part = calls.get(row.tool_call_id ?? '');
        if (part) completeCall(part, row);
        break;
      }
      case 'system':
        applyNotice(responseOf(row), row);
        break;
    }
  }
  return messages;
}

/** A turn's token usage and cost as message metadata. */
export function usageMetadata({
  promptTokens,
  completionTokens,
  costMicrodollars,
}: Partial<Usage>): MessageMetadata {
  if (promptTokens === undefined) return {};
  return { promptTokens, completionTokens, costMicrodollars: costMicrodollars ?? undefined };
}

/** A message sent by the user. */
export function userMessage(id: string, text: string, createdAt?: string): CopilotMessage {
  return { id, role: 'user', parts: [{ type: 'text', text }], metadata: createdAt ? { createdAt } : {} };
}

/** A mutable tool part. The SDK's own type is a union that can't be changed in place. */
type ToolPartDraft = {
  type: `tool-${string}`;
  toolCallId: string;
  state: 'output-available' | 'output-error';
  input: unknown;
  output?: unknown;
  errorText?: string;
};

/** In a history, a call without a result has ended; only a stream has running calls. */
function callWithoutResult(toolCallId: string, name: string, args: string): ToolPartDraft {
  return {
    type: `tool-${name}`,
    toolCallId,
    state: 'output-error',
    input: parseJson(args || '{}', args),
    errorText: NO_RESULT,
  };
}

function completeCall(part: ToolPartDraft, row: MessageView): void {
  const output = parseJson(row.content, row.content);
  if (row.outcome === 'cancelled' || row.outcome === 'interrupted') {
    part.errorText = messageOf(output) ?? row.content;
    return;
  }
  part.state = 'output-available';
  part.output = output;
  delete part.errorText;
}

function textParts(row: MessageView): CopilotPart[] {
  const parts: CopilotPart[] = [];
  if (row.reasoning) parts.push({ type: 'reasoning', text: row.reasoning, state: 'done' });
  if (row.content) parts.push({ type: 'text', text: row.content, state: 'done' });
  return parts;
}

function metadataOf(row: MessageView): MessageMetadata {
  const facts: MessageMetadata = { createdAt: row.created_at };
  if (row.model) facts.model = row.model;
  if (row.duration_ms != null) facts.durationMs = row.duration_ms;
  const usage = asRecord(asRecord(row.metadata).usage) as Partial<Usage>;
  return { ...facts, ...usageMetadata(usage) };
}

function addFollowUp(parts: UIMessage['parts'], row: MessageView): void {
  const message = { id: row.id, text: row.content };
  const last = parts.at(-1);
  if (last?.type === 'data-pending-drained' && 'data' in last) {
    const { messages } = last.data as { messages: (typeof message)[] };
    last.data = { count: messages.length + 1, messages: [...messages, message] };
  } else {
    parts.push({ type: 'data-pending-drained', data: { count: 1, messages: [message] } });
  }
}

/** Applies a notice row: the turn was stopped, it failed, or older messages were compacted. */
function applyNotice(response: CopilotMessage, row: MessageView): void {
  const facts = asRecord(row.metadata);
  if (facts.kind === 'stopped') {
    response.metadata = { ...response.metadata, stopped: true };
  } else if (facts.kind === 'compaction') {
    response.parts.push({ type: 'data-compaction', data: facts as unknown as CompactionData });
  } else {
    const code = typeof facts.code === 'string' ? facts.code : 'internal_error';
    const retryable = facts.retryable !== false;
    response.metadata = { ...response.metadata, error: `[code:${code}] ${row.content}`, retryable };
  }
}

function messageOf(output: unknown): string | undefined {
  const { message } = asRecord(output);
  return typeof message === 'string' ? message : undefined;
}
