// Messages in groups. A group that is out of sight costs the browser one box, however long the session is.

import type { CopilotMessage } from '@/session/types';

const SIZE = 12;

export type Chunk = { key: string; messages: CopilotMessage[] };

/**
 * Groups that stay what they are when messages are added at either end: what was not touched is the same object, so
 * it is not drawn again.
 */
export function chunked(before: readonly Chunk[], messages: readonly CopilotMessage[]): Chunk[] {
  const home = new Map<string, Chunk>();
  for (const chunk of before) for (const message of chunk.messages) home.set(message.id, chunk);
  const chunks: Chunk[] = [];
  let from: Chunk | undefined;
  for (const message of messages) {
    const was = home.get(message.id);
    const last = chunks.at(-1);
    // A message that is new joins the group it stands behind, if that has room.
    const joins = last && (was ? was === from : last.messages.length < SIZE);
    if (joins) last.messages.push(message);
    else {
      chunks.push({ key: message.id, messages: [message] });
      from = was;
    }
  }
  const known = new Map(before.map((chunk) => [chunk.key, chunk]));
  return chunks.map((chunk) => {
    const old = known.get(chunk.key);
    return old && isSame(old, chunk) ? old : chunk;
  });
}

function isSame(one: Chunk, other: Chunk): boolean {
  return (
    one.messages.length === other.messages.length &&
    one.messages.every((message, index) => message === other.messages[index])
  );
}

const LINE_PX = 28;
const LINE_CHARACTERS = 85;
const AROUND_PX = 64;
const CARD_PX = 56;

/** About how high a group will be, so that the scroll bar is right before it was ever drawn. */
export function estimatedHeight({ messages }: Chunk): number {
  let height = 0;
  for (const message of messages) {
    height += AROUND_PX;
    for (const part of message.parts) {
      if (part.type === 'text') height += Math.ceil(part.text.length / LINE_CHARACTERS) * LINE_PX;
      else if (part.type.startsWith('tool-')) height += CARD_PX;
    }
  }
  return height;
}
