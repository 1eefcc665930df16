// What a person sees of the messages: the SDK keeps everything that was streamed, also what was taken back.

import { isToolUIPart } from 'ai';
import type { CopilotMessage, CopilotPart } from './types';

/** Messages that nothing changes about stay the same objects. */
export function shown(messages: CopilotMessage[], held: CopilotMessage | null): CopilotMessage[] {
  const list = messages.map(withoutSuperseded);
  const last = list.at(-1);
  if (last?.role !== 'assistant') return list;
  if (held?.id === last.id && sizeOf(messages.at(-1) ?? last) < sizeOf(held)) {
    // A replay begins with nothing: until it has caught up, what was there before stays.
    list[list.length - 1] = withoutSuperseded(held);
  }
  return withoutDeliveredTwice(withOperationsInPlace(list));
}

const cleaned = new WeakMap<CopilotMessage, CopilotMessage>();

/** When a worker dies in the middle of a step, another one does the step again, and says so. */
function withoutSuperseded(message: CopilotMessage): CopilotMessage {
  if (message.role !== 'assistant') return message;
  const known = cleaned.get(message);
  if (known) return known;
  const parts = stillSaid(message.parts);
  const result = parts === message.parts ? message : { ...message, parts };
  cleaned.set(message, result);
  return result;
}

/** The parts without the steps that were done again. */
export function stillSaid(parts: CopilotPart[]): CopilotPart[] {
  if (!parts.some((part) => part.type === 'data-attempt' && part.data.supersedes)) return parts;
  const kept: CopilotPart[] = [];
  for (const part of parts) {
    if (part.type === 'data-attempt' && part.data.supersedes) {
      const step = kept.findLastIndex((before) => before.type === 'step-start');
      if (step >= 0) kept.splice(step);
    }
    kept.push(part);
  }
  return kept;
}

/**
 * An operation ends in a stream of its own, which repeats the call. The result belongs where the call was made, as
 * in the history.
 */
function withOperationsInPlace(list: CopilotMessage[]): CopilotMessage[] {
  const last = list.at(-1);
  if (!last) return list;
  const repeated = new Map<string, CopilotPart>();
  for (const part of last.parts) if (isToolUIPart(part)) repeated.set(part.toolCallId, part);
  if (repeated.size === 0) return list;
  const moved = new Set<string>();
  const earlier = list.slice(0, -1).map((message) => {
    if (!message.parts.some((part) => isToolUIPart(part) && repeated.has(part.toolCallId))) return message;
    const parts = message.parts.map((part) => {
      const again = isToolUIPart(part) ? repeated.get(part.toolCallId) : undefined;
      if (!again || !isToolUIPart(part)) return part;
      moved.add(part.toolCallId);
      // Until it has ended, its first word, that it was started, says more than a bare call.
      return isToolUIPart(again) && again.state.startsWith('output') ? again : part;
    });
    return { ...message, parts };
  });
  if (moved.size === 0) return list;
  const parts = last.parts.filter((part) => !(isToolUIPart(part) && moved.has(part.toolCallId)));
  return [...earlier, { ...last, parts }];
}

/** A follow-up that the answer has taken up stands inside it, so not before it as well. */
function withoutDeliveredTwice(list: CopilotMessage[]): CopilotMessage[] {
  const delivered = new Set<string>();
  for (const part of list.at(-1)?.parts ?? []) {
    if (part.type === 'data-pending-drained') for (const one of part.data.messages) delivered.add(one.id);
  }
  if (delivered.size === 0) return list;
  return list.filter((message) => message.role !== 'user' || !delivered.has(message.id));
}

/** Grows with everything that is streamed. */
export function sizeOf(message: CopilotMessage): number {
  let size = 0;
  for (const part of message.parts) {
    size += 1;
    if (part.type === 'text' || part.type === 'reasoning') size += part.text.length;
    else if (isToolUIPart(part)) size += ROUNDS.indexOf(part.state) + 1;
  }
  return size;
}

const ROUNDS = ['input-streaming', 'input-available', 'output-error', 'output-available'];
