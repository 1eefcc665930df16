// A chat without a page: the SDK's own state machine and transport around a plain object, as a UI framework would connect
// them.

import { streamUrl } from './api.mjs';
import { Wire } from './wire.mjs';

/** The SDK versions that drive the server. Each test runs once per version. */
export const versions = [
  { name: 'ai 6', sdk: await import('ai-6') },
  { name: 'ai 7', sdk: await import('ai-7') },
];

/**
 * Opens a chat on a session.
 * @param options.messages the history that a reloaded page starts from
 * @param options.cut where the first stream is cut (see wire.mjs)
 */
export function openChat(sdk, session, { messages = [], cut } = {}) {
  const wire = new Wire(cut);
  const seen = { data: [], finishes: [], errors: [] };
  const transport = new sdk.DefaultChatTransport({
    api: streamUrl(session),
    fetch: wire.fetch,
    prepareReconnectToStreamRequest: () => ({ api: streamUrl(session) }),
  });
  class Chat extends sdk.AbstractChat {}
  const chat = new Chat({
    id: session,
    transport,
    state: plainState(messages),
    onData: (part) => seen.data.push(part),
    onFinish: (event) => seen.finishes.push(event),
    onError: (error) => seen.errors.push(error),
  });
  return { chat, wire, seen };
}

function plainState(messages) {
  return {
    status: 'ready',
    error: undefined,
    messages: [...messages],
    pushMessage(message) {
      this.messages = [...this.messages, message];
    },
    popMessage() {
      this.messages = this.messages.slice(0, -1);
    },
    replaceMessage(index, message) {
      this.messages = this.messages.with(index, structuredClone(message));
    },
    snapshot: (value) => structuredClone(value),
  };
}

/** All text of a message. */
export function textOf(message) {
  return message.parts
    .filter((part) => part.type === 'text')
    .map((part) => part.text)
    .join('');
}

/** Resolves when the chat has shown this much text, and fails if it does not within the time limit. */
export async function untilText(chat, length, milliseconds = 10_000) {
  const deadline = Date.now() + milliseconds;
  while (Date.now() < deadline) {
    const last = chat.messages.at(-1);
    if (last?.role === 'assistant' && textOf(last).length >= length) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`the chat showed less than ${length} characters in ${milliseconds} ms`);
}
