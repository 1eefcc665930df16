// Groups messages. An off-screen group costs the browser one box, however long the session is.

import type { CopilotMessage } from '@/session/types';

const MAX_SIZE = 12;

export type MessageGroupData = { key: string; messages: CopilotMessage[] };

/**
 * Groups stay stable when messages are added at either end: an unchanged group is the same object, so it isn't
 * rendered again.
 */
export function groupMessages(
  before: readonly MessageGroupData[],
  messages: readonly CopilotMessage[],
): MessageGroupData[] {
  const groupOf = new Map<string, MessageGroupData>();
  for (const group of before) for (const message of group.messages) groupOf.set(message.id, group);
  const groups: MessageGroupData[] = [];
  let current: MessageGroupData | undefined;
  for (const message of messages) {
    const previous = groupOf.get(message.id);
    const last = groups.at(-1);
    // A new message joins the previous group if that has room.
    const joins = last && (previous ? previous === current : last.messages.length < MAX_SIZE);
    if (joins) last.messages.push(message);
    else {
      groups.push({ key: message.id, messages: [message] });
      current = previous;
    }
  }
  const known = new Map(before.map((group) => [group.key, group]));
  return groups.map((group) => {
    const old = known.get(group.key);
    return old && isSame(old, group) ? old : group;
  });
}

function isSame(one: MessageGroupData, other: MessageGroupData): boolean {
  return (
    one.messages.length === other.messages.length &&
    one.messages.every((message, index) => message === other.messages[index])
  );
}

/** The messages that no user message follows: their questions can still be answered. */
export function currentMessages(messages: readonly CopilotMessage[]): ReadonlySet<CopilotMessage> {
  return new Set(messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1));
}

const LINE_PX = 28;
const LINE_CHARACTERS = 85;
const AROUND_PX = 64;
const CARD_PX = 56;

/** Approximate height of a group, so that the scroll bar is right before the group is rendered. */
export function estimatedHeight({ messages }: MessageGroupData): number {
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
