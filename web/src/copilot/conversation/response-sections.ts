// Groups the parts of a response into the sections that are rendered below each other.

import { isToolUIPart } from 'ai';
import type { DataParts, DrainedMessage } from '@/protocol';
import type { CopilotMessage } from '@/session/types';
import type { ToolPart } from '@/tools/types';

export type ResponseSection =
  | { kind: 'text'; text: string; streaming: boolean }
  | { kind: 'reasoning'; text: string; streaming: boolean }
  | { kind: 'tools'; calls: ToolPart[] }
  | { kind: 'follow-ups'; messages: DrainedMessage[] }
  | { kind: 'compaction'; data: DataParts['compaction'] }
  | { kind: 'background'; calls: DataParts['background'][] };

export function sectionsOf(message: CopilotMessage): ResponseSection[] {
  const sections: ResponseSection[] = [];
  for (const part of message.parts) {
    const last = sections.at(-1);
    if (part.type === 'text') {
      if (part.text.trim())
        sections.push({ kind: 'text', text: part.text, streaming: part.state === 'streaming' });
    } else if (part.type === 'reasoning') {
      const streaming = part.state === 'streaming';
      if (last?.kind === 'reasoning') {
        last.text += `\n\n${part.text}`;
        last.streaming = streaming;
      } else if (part.text.trim() || streaming) {
        sections.push({ kind: 'reasoning', text: part.text, streaming });
      }
    } else if (isToolUIPart(part)) {
      const call = part as ToolPart;
      if (last?.kind === 'tools') last.calls.push(call);
      else sections.push({ kind: 'tools', calls: [call] });
    } else if (part.type === 'data-pending-drained') {
      sections.push({ kind: 'follow-ups', messages: part.data.messages });
    } else if (part.type === 'data-compaction') {
      sections.push({ kind: 'compaction', data: part.data });
    } else if (part.type === 'data-background') {
      if (last?.kind === 'background') last.calls.push(part.data);
      else sections.push({ kind: 'background', calls: [part.data] });
    }
  }
  return sections;
}

/** Whether the last section already shows activity, so that no other indicator is needed. */
export function showsActivity(sections: ResponseSection[]): boolean {
  const last = sections.at(-1);
  if (last?.kind === 'text' || last?.kind === 'reasoning') return last.streaming;
  if (last?.kind === 'tools') return last.calls.some((call) => !call.state.startsWith('output'));
  return false;
}

/** The text of a response, for copying and for screen readers. */
export function textOf(message: CopilotMessage): string {
  return message.parts
    .flatMap((part) => (part.type === 'text' ? [part.text.trim()] : []))
    .filter(Boolean)
    .join('\n\n');
}
