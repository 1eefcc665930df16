// What the AI SDK makes of the streams that the server says: the last state of the message, for each situation.

import { Chat } from '@ai-sdk/react';
import { DefaultChatTransport } from 'ai';
import { expect, test } from 'vitest';
import { recorded, recordedNames, streamed } from '@/testing/recorded';
import type { CopilotMessage } from './types';

type Seen = {
  /** Text parts, one after the other. */
  says?: string[];
  thinks?: string[];
  /** Calls as `name state`. */
  calls?: string[];
  /** Data parts that stay in the message. */
  data?: string[];
  fails?: RegExp;
};

const SITUATIONS: Record<string, Seen> = {
  background: {
    says: ['It weighs 12 tonnes.'],
    calls: ['read_slowly background', 'check_background_tool background_tool_status'],
    data: ['data-background', 'data-usage'],
  },
  'broken-arguments': {
    says: ['I could not write that down.'],
    calls: ['todo_write error'],
    data: ['data-usage'],
  },
  compaction: { says: ['It is called Port Lotse.'], data: ['data-compaction', 'data-usage'] },
  'follow-up': {
    says: ['I plan it.', 'To Breskens, and back before dark.'],
    calls: ['todo_write todo_write'],
    data: ['data-pending-drained', 'data-usage'],
  },
  'max-steps': { calls: ['todo_write todo_write', 'todo_write todo_write'], fails: /max_turns_exhausted/ },
  'one-tool': {
    says: ['I write that down.', 'It is on the list.'],
    calls: ['todo_write todo_write'],
    data: ['data-usage'],
  },
  'operation-finished': { says: ['The film is ready.'], calls: ['render undefined'], data: ['data-usage'] },
  'operation-started': {
    says: ['It is being rendered.'],
    calls: ['render operation_started'],
    data: ['data-usage'],
  },
  'parallel-tools': {
    says: ['There is no chart yet.'],
    calls: ['todo_write todo_write', 'read_workspace_file error', 'list_workspace_files workspace_file_list'],
    data: ['data-usage'],
  },
  'plain-text': {
    says: [expect.stringMatching(/^The tide turns .*\n.*I would wait\.$/s)],
    data: ['data-usage'],
  },
  'provider-failure': { says: ['The way out of'], fails: /provider_refused/ },
  'provider-refusal': { fails: /provider_auth/ },
  question: {
    says: ['Tell me, and I book a berth.'],
    calls: ['ask_question clarification_needed'],
    data: ['data-usage'],
  },
  reasoning: {
    thinks: ['They ask for the depth. The chart says 4.2 m at low water.'],
    says: ['At low water it is 4.2 m deep.'],
    data: ['data-usage'],
  },
  stopped: { says: ['The way out of the harbour'] },
  'sub-session': {
    says: ['Berth 12 is free.'],
    calls: ['run_sub_session sub_session_status'],
    data: ['data-usage'],
  },
  takeover: {
    says: ['First a list.', 'The wind is from', 'The wind is from the west, and it is turning.'],
    calls: ['todo_write todo_write'],
    data: ['data-attempt', 'data-usage'],
  },
};

test('every recorded stream is looked at', () => {
  expect(Object.keys(SITUATIONS)).toEqual(recordedNames());
});

test.each(Object.entries(SITUATIONS))('the client reads %s as it was said', async (name, seen) => {
  const chat = await read(name);
  const { parts = [] } = chat.messages.at(-1) ?? {};
  const textOf = (kind: 'text' | 'reasoning') =>
    parts.flatMap((part) => (part.type === kind ? part.text : []));
  const calls = parts.flatMap((part) =>
    'toolCallId' in part && part.state === 'output-available'
      ? `${part.type.replace('tool-', '')} ${(part.output as { type?: string }).type}`
      : [],
  );
  expect(textOf('text')).toEqual(seen.says ?? []);
  expect(textOf('reasoning')).toEqual(seen.thinks ?? []);
  expect(calls).toEqual(seen.calls ?? []);
  expect(parts.map((part) => part.type).filter((type) => type.startsWith('data-'))).toEqual(seen.data ?? []);
  if (seen.fails) expect(chat.error?.message).toMatch(seen.fails);
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
