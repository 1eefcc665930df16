// The final message that the AI SDK builds from each recorded server stream.

import { Chat } from '@ai-sdk/react';
import { DefaultChatTransport } from 'ai';
import { expect, test } from 'vitest';
import { recorded, recordedNames, streamed } from '@/testing/recorded';
import type { CopilotMessage } from './types';

type ExpectedMessage = {
  /** Text parts in order. */
  texts?: string[];
  reasoning?: string[];
  /** Calls as `name outputType`. */
  calls?: string[];
  /** Data parts that stay in the message. */
  data?: string[];
  error?: RegExp;
};

const EXPECTED: Record<string, ExpectedMessage> = {
  background: {
    texts: ['It weighs 12 tonnes.'],
    calls: ['read_slowly background', 'check_background_tool background_tool_status'],
    data: ['data-background', 'data-usage'],
  },
  'broken-arguments': {
    texts: ['I could not write that down.'],
    calls: ['todo_write error'],
    data: ['data-usage'],
  },
  compaction: { texts: ['It is called Port Lotse.'], data: ['data-compaction', 'data-usage'] },
  'follow-up': {
    texts: ['I plan it.', 'To Breskens, and back before dark.'],
    calls: ['todo_write todo_write'],
    data: ['data-pending-drained', 'data-usage'],
  },
  'max-steps': { calls: ['todo_write todo_write', 'todo_write todo_write'], error: /max_turns_exhausted/ },
  'one-tool': {
    texts: ['I write that down.', 'It is on the list.'],
    calls: ['todo_write todo_write'],
    data: ['data-usage'],
  },
  'operation-finished': { texts: ['The film is ready.'], calls: ['render undefined'], data: ['data-usage'] },
  'operation-started': {
    texts: ['It is being rendered.'],
    calls: ['render operation_started'],
    data: ['data-usage'],
  },
  'parallel-tools': {
    texts: ['There is no chart yet.'],
    calls: ['todo_write todo_write', 'read_workspace_file error', 'list_workspace_files workspace_file_list'],
    data: ['data-usage'],
  },
  'plain-text': {
    texts: [expect.stringMatching(/^The tide turns .*\n.*I would wait\.$/s)],
    data: ['data-usage'],
  },
  'provider-failure': { texts: ['The way out of'], error: /provider_refused/ },
  'provider-refusal': { error: /provider_auth/ },
  question: {
    texts: ['Tell me, and I book a berth.'],
    calls: ['ask_question clarification_needed'],
    data: ['data-usage'],
  },
  reasoning: {
    reasoning: ['They ask for the depth. The chart says 4.2 m at low water.'],
    texts: ['At low water it is 4.2 m deep.'],
    data: ['data-usage'],
  },
  stopped: { texts: ['The way out of the harbour'] },
  'sub-session': {
    texts: ['Berth 12 is free.'],
    calls: ['run_sub_session sub_session_status'],
    data: ['data-usage'],
  },
  takeover: {
    texts: ['First a list.', 'The wind is from', 'The wind is from the west, and it is turning.'],
    calls: ['todo_write todo_write'],
    data: ['data-attempt', 'data-usage'],
  },
};

test('every recorded stream is covered', () => {
  expect(Object.keys(EXPECTED)).toEqual(recordedNames());
});

test.each(Object.entries(EXPECTED))('the SDK builds the expected message from %s', async (name, expected) => {
  const chat = await read(name);
  const { parts = [] } = chat.messages.at(-1) ?? {};
  const textOf = (kind: 'text' | 'reasoning') =>
    parts.flatMap((part) => (part.type === kind ? part.text : []));
  const calls = parts.flatMap((part) =>
    'toolCallId' in part && part.state === 'output-available'
      ? `${part.type.replace('tool-', '')} ${(part.output as { type?: string }).type}`
      : [],
  );
  expect(textOf('text')).toEqual(expected.texts ?? []);
  expect(textOf('reasoning')).toEqual(expected.reasoning ?? []);
  expect(calls).toEqual(expected.calls ?? []);
  expect(parts.map((part) => part.type).filter((type) => type.startsWith('data-'))).toEqual(
    expected.data ?? [],
  );
  if (expected.error) expect(chat.error?.message).toMatch(expected.error);
  else expect(chat.error).toBeUndefined();
});

async function read(name: string): Promise<Chat<CopilotMessage>> {
  const transport = new DefaultChatTransport<CopilotMessage>({
    api: 'http://server/stream',
    fetch: async () => streamed(recorded(name)),
  });
  const chat = new Chat<CopilotMessage>({ transport });
  await chat.sendMessage({ text: 'A question.' });
  return chat;
}
