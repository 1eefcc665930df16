// The messages as the user sees them. The SDK keeps everything that was streamed, including superseded steps.

import { type DynamicToolUIPart, isToolUIPart, type ToolUIPart } from 'ai';
import type { CopilotMessage, CopilotPart } from './types';

/** Unchanged messages stay the same objects. */
export function visibleMessages(
  messages: CopilotMessage[],
  beforeReplay: CopilotMessage | null,
): CopilotMessage[] {
  const list = messages.map(withoutSuperseded);
  const last = list.at(-1);
  if (last?.role !== 'assistant') return list;
  if (beforeReplay?.id === last.id && sizeOf(messages.at(-1) ?? last) < sizeOf(beforeReplay)) {
    // A replay starts empty: until it has caught up, the response from before the replay is shown.
    list[list.length - 1] = withoutSuperseded(beforeReplay);
  }
  return withoutDeliveredFollowUps(withResultsAtCalls(list));
}

const withoutSupersededCache = new WeakMap<CopilotMessage, CopilotMessage>();

/** When a worker dies during a step, another worker repeats the step and marks the old one as superseded. */
function withoutSuperseded(message: CopilotMessage): CopilotMessage {
  if (message.role !== 'assistant') return message;
  const known = withoutSupersededCache.get(message);
  if (known) return known;
  const parts = withoutSupersededSteps(message.parts);
  const result = parts === message.parts ? message : { ...message, parts };
  withoutSupersededCache.set(message, result);
  return result;
}

/** The parts without superseded steps. */
export function withoutSupersededSteps(parts: CopilotPart[]): CopilotPart[] {
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
 * An operation ends in a stream of its own, which repeats the tool call. The result is shown at the original call, as
 * in the history.
 */
function withResultsAtCalls(list: CopilotMessage[]): CopilotMessage[] {
  const last = list.at(-1);
  if (!last) return list;
  const repeatedCalls = new Map<string, CopilotPart>();
  for (const part of last.parts) if (isToolUIPart(part)) repeatedCalls.set(part.toolCallId, part);
  if (repeatedCalls.size === 0) return list;
  const moved = new Set<string>();
  const earlier = list.slice(0, -1).map((message) => {
    if (!message.parts.some((part) => isToolUIPart(part) && repeatedCalls.has(part.toolCallId)))
      return message;
    const parts = message.parts.map((part) => {
      const again = isToolUIPart(part) ? repeatedCalls.get(part.toolCallId) : undefined;
      if (!again || !isToolUIPart(part)) return part;
      moved.add(part.toolCallId);
      // Until it has ended, `operation_started` is more informative than a call without its final output.
      return isToolUIPart(again) && isFinal(again) ? again : part;
    });
    return { ...message, parts };
  });
  if (moved.size === 0) return list;
  const parts = last.parts.filter((part) => !(isToolUIPart(part) && moved.has(part.toolCallId)));
  return [...earlier, { ...last, parts }];
}

function isFinal(part: ToolUIPart | DynamicToolUIPart): boolean {
  return part.state.startsWith('output') && !('preliminary' in part && part.preliminary);
}

/** A follow-up that was delivered during the response is shown inside it, so it isn't shown before it as well. */
function withoutDeliveredFollowUps(list: CopilotMessage[]): CopilotMessage[] {
  const delivered = new Set<string>();
  for (const part of list.at(-1)?.parts ?? []) {
    if (part.type === 'data-pending-drained') for (const one of part.data.messages) delivered.add(one.id);
  }
  if (delivered.size === 0) return list;
  return list.filter((message) => message.role !== 'user' || !delivered.has(message.id));
}

/** A measure that grows with everything that is streamed. */
export function sizeOf(message: CopilotMessage): number {
  let size = 0;
  for (const part of message.parts) {
    size += 1;
    if (part.type === 'text' || part.type === 'reasoning') size += part.text.length;
    else if (isToolUIPart(part)) size += TOOL_STATES.indexOf(part.state) + 1;
  }
  return size;
}

const TOOL_STATES = ['input-streaming', 'input-available', 'output-error', 'output-available'];
