// Stored messages as UI messages: what a page shows after a reload, before any stream.

/**
 * One message per user message and one per response. A response has the id of its turn's stream, so that a replay of the
 * stream replaces it.
 */
export function toUiMessages(rows) {
  const messages = [];
  for (const row of rows) {
    if (row.role === 'user') {
      messages.push({ id: row.id, role: 'user', parts: [{ type: 'text', text: row.content }] });
    } else if (row.role === 'assistant') {
      answer(messages, row).parts.push({ type: 'step-start' }, ...partsOf(row));
    } else if (row.role === 'tool') {
      settle(messages, row);
    }
  }
  return messages;
}

/** The texts of the responses of a session, turn by turn. */
export function answers(rows) {
  const turns = new Map();
  for (const row of rows.filter((row) => row.role === 'assistant')) {
    turns.set(row.turn_id, (turns.get(row.turn_id) ?? '') + (row.content ?? ''));
  }
  return [...turns.values()];
}

function answer(messages, row) {
  const last = messages.at(-1);
  if (last?.role === 'assistant' && last.id === row.turn_id) return last;
  const made = { id: row.turn_id, role: 'assistant', parts: [] };
  messages.push(made);
  return made;
}

function partsOf(row) {
  const parts = [];
  if (row.reasoning) parts.push({ type: 'reasoning', text: row.reasoning, state: 'done' });
  if (row.content) parts.push({ type: 'text', text: row.content, state: 'done' });
  for (const call of row.tool_calls ?? []) {
    parts.push({
      type: `tool-${call.function.name}`,
      toolCallId: call.id,
      state: 'input-available',
      input: JSON.parse(call.function.arguments || '{}'),
    });
  }
  return parts;
}

function settle(messages, row) {
  const part = messages
    .flatMap((message) => message.parts)
    .findLast((part) => part.toolCallId === row.tool_call_id);
  if (!part) throw new Error(`a tool row (${row.tool_call_id}) answers no call of the history`);
  part.state = row.outcome === 'ok' ? 'output-available' : 'output-error';
  if (part.state === 'output-available') part.output = JSON.parse(row.content);
  else part.errorText = row.content;
}
