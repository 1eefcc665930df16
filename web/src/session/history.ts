// The rows of a history as the messages of a conversation.

import type { UIMessage } from 'ai';
import type { Compaction, MessageView, Usage } from '@/protocol';
import type { CopilotMessage, CopilotPart, MessageMetadata } from './types';

const NEVER_ENDED = 'This call has no result.';

/**
 * One message per question and one per turn's answer. An answer is named after its turn, as its stream names it, so
 * that a replay finds it. A follow-up that came in the middle of an answer stands inside it, as in the stream.
 */
export function messagesOf(rows: readonly MessageView[]): CopilotMessage[] {
  const messages: CopilotMessage[] = [];
  const answers = new Map<string, CopilotMessage>();
  const calls = new Map<string, ToolPartDraft>();

  const answerOf = (row: MessageView): CopilotMessage => {
    const known = answers.get(row.turn_id);
    if (known) return known;
    const made: CopilotMessage = { id: row.turn_id, role: 'assistant', parts: [], metadata: {} };
    answers.set(row.turn_id, made);
    messages.push(made);
    return made;
  };

  for (const row of rows) {
    switch (row.role) {
      case 'user': {
        const answer = answers.get(row.turn_id);
        if (answer) followUp(answer.parts, row);
        else messages.push(question(row.id, row.content, row.created_at));
        break;
      }
      case 'assistant': {
        const answer = answerOf(row);
        answer.parts.push({ type: 'step-start' }, ...words(row));
        for (const call of row.tool_calls ?? []) {
          const part = unanswered(call.id, call.function.name, call.function.arguments);
          calls.set(call.id, part);
          answer.parts.push(part as CopilotPart);
        }
        answer.metadata = { ...answer.metadata, ...factsOf(row) };
        break;
      }
      case 'tool': {
        // The call of a result at the edge of a page may be on the page before.
        const part = calls.get(row.tool_call_id ?? '');
        if (part) settle(part, row);
        break;
      }
      case 'system':
        notice(answerOf(row), row);
        break;
    }
  }
  return messages;
}

/** What a turn has used, as it stands beside its answer. */
export function tokensOf({
  promptTokens,
  completionTokens,
  costMicrodollars,
}: Partial<Usage>): MessageMetadata {
  if (promptTokens === undefined) return {};
  return { promptTokens, completionTokens, costMicrodollars: costMicrodollars ?? undefined };
}

/** What a person said, as a message. */
export function question(id: string, text: string, createdAt?: string): CopilotMessage {
  return { id, role: 'user', parts: [{ type: 'text', text }], metadata: createdAt ? { createdAt } : {} };
}

/** The tool parts of the SDK are too finely divided to be changed in place. */
type ToolPartDraft = {
  type: `tool-${string}`;
  toolCallId: string;
  state: 'output-available' | 'output-error';
  input: unknown;
  output?: unknown;
  errorText?: string;
};

/** In a history a call whose result is missing has ended; only a stream has calls that are at work. */
function unanswered(toolCallId: string, name: string, args: string): ToolPartDraft {
  return {
    type: `tool-${name}`,
    toolCallId,
    state: 'output-error',
    input: parsed(args || '{}'),
    errorText: NEVER_ENDED,
  };
}

function settle(part: ToolPartDraft, row: MessageView): void {
  const output = parsed(row.content);
  if (row.outcome === 'cancelled' || row.outcome === 'interrupted') {
    part.errorText = messageIn(output) ?? row.content;
    return;
  }
  part.state = 'output-available';
  part.output = output;
  delete part.errorText;
}

function words(row: MessageView): CopilotPart[] {
  const parts: CopilotPart[] = [];
  if (row.reasoning) parts.push({ type: 'reasoning', text: row.reasoning, state: 'done' });
  if (row.content) parts.push({ type: 'text', text: row.content, state: 'done' });
  return parts;
}

function factsOf(row: MessageView): MessageMetadata {
  const facts: MessageMetadata = { createdAt: row.created_at };
  if (row.model) facts.model = row.model;
  if (row.duration_ms != null) facts.durationMs = row.duration_ms;
  const usage = record(record(row.metadata).usage) as Partial<Usage>;
  return { ...facts, ...tokensOf(usage) };
}

function followUp(parts: UIMessage['parts'], row: MessageView): void {
  const message = { id: row.id, text: row.content };
  const last = parts.at(-1);
  if (last?.type === 'data-pending-drained' && 'data' in last) {
    const { messages } = last.data as { messages: (typeof message)[] };
    last.data = { count: messages.length + 1, messages: [...messages, message] };
  } else {
    parts.push({ type: 'data-pending-drained', data: { count: 1, messages: [message] } });
  }
}

/** A row for the person: the turn was stopped or has failed, or older messages were folded. */
function notice(answer: CopilotMessage, row: MessageView): void {
  const facts = record(row.metadata);
  if (facts.kind === 'stopped') {
    answer.metadata = { ...answer.metadata, stopped: true };
  } else if (facts.kind === 'compaction') {
    answer.parts.push({ type: 'data-compaction', data: facts as unknown as Compaction });
  } else {
    const code = typeof facts.code === 'string' ? facts.code : 'internal_error';
    const retryable = facts.retryable !== false;
    answer.metadata = { ...answer.metadata, error: `[code:${code}] ${row.content}`, retryable };
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function messageIn(output: unknown): string | undefined {
  const { message } = record(output);
  return typeof message === 'string' ? message : undefined;
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
