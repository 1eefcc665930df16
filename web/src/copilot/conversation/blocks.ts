// The parts of an answer as they stand below each other: what belongs together is one block.

import { isToolUIPart } from 'ai';
import type { DataParts, DrainedMessage } from '@/protocol';
import type { CopilotMessage } from '@/session/types';
import type { ToolPart } from '@/tools/types';

export type Block =
  | { kind: 'text'; text: string; streaming: boolean }
  | { kind: 'reasoning'; text: string; streaming: boolean }
  | { kind: 'tools'; calls: ToolPart[] }
  | { kind: 'follow-ups'; messages: DrainedMessage[] }
  | { kind: 'compaction'; data: DataParts['compaction'] }
  | { kind: 'background'; calls: DataParts['background'][] };

export function blocksOf(message: CopilotMessage): Block[] {
  const blocks: Block[] = [];
  for (const part of message.parts) {
    const last = blocks.at(-1);
    if (part.type === 'text') {
      if (part.text.trim())
        blocks.push({ kind: 'text', text: part.text, streaming: part.state === 'streaming' });
    } else if (part.type === 'reasoning') {
      const streaming = part.state === 'streaming';
      if (last?.kind === 'reasoning') {
        last.text += `\n\n${part.text}`;
        last.streaming = streaming;
      } else if (part.text.trim() || streaming) {
        blocks.push({ kind: 'reasoning', text: part.text, streaming });
      }
    } else if (isToolUIPart(part)) {
      const call = part as ToolPart;
      if (last?.kind === 'tools') last.calls.push(call);
      else blocks.push({ kind: 'tools', calls: [call] });
    } else if (part.type === 'data-pending-drained') {
      blocks.push({ kind: 'follow-ups', messages: part.data.messages });
    } else if (part.type === 'data-compaction') {
      blocks.push({ kind: 'compaction', data: part.data });
    } else if (part.type === 'data-background') {
      if (last?.kind === 'background') last.calls.push(part.data);
      else blocks.push({ kind: 'background', calls: [part.data] });
    }
  }
  return blocks;
}

/** Whether something in it moves, so that nothing else has to say that the turn is at work. */
export function isMoving(blocks: Block[]): boolean {
  const last = blocks.at(-1);
  if (last?.kind === 'text' || last?.kind === 'reasoning') return last.streaming;
  if (last?.kind === 'tools') return last.calls.some((call) => !call.state.startsWith('output'));
  return false;
}

/** The words of an answer, as they are copied and read out. */
export function wordsOf(message: CopilotMessage): string {
  return message.parts
    .flatMap((part) => (part.type === 'text' ? [part.text.trim()] : []))
    .filter(Boolean)
    .join('\n\n');
}
