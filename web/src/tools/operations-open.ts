// Whether a message waits for work that goes on without its turn. Pure, so that whoever polls needs no card.

import type { CopilotPart } from '@/session/types';
import { asRecord, parsed } from './records';

/** These stand in the history only until the result takes their place. */
const OPEN = new Set(['operation_started', 'operation_pending']);

export function hasOpenOperation(parts: readonly CopilotPart[]): boolean {
  return parts.some(
    (part) =>
      (part.type === 'dynamic-tool' || part.type.startsWith('tool-')) &&
      'output' in part &&
      OPEN.has(String(asRecord(parsed(part.output)).type)),
  );
}
