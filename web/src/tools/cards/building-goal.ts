import { asRecord } from '@/lib/json';
import type { ToolPart } from '../types';

/** The words that a call makes or changes an agent from; null if it has none. */
export function goalOf(part: ToolPart): string | null {
  const { description, changes, modifications } = asRecord(part.input);
  const words = [description, changes, modifications].find((text) => typeof text === 'string' && text.trim());
  return typeof words === 'string' ? words.trim() : null;
}
