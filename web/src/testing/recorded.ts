// Recorded server streams from fixtures/streams. A server test keeps them up to date.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { UIMessageChunk } from 'ai';

const FOLDER = join(import.meta.dirname, '../../../fixtures/streams');

/** The names of all recorded streams. */
export function recordedNames(): string[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.jsonl'))
    .map((file) => file.replace(/\.jsonl$/, ''))
    .sort();
}

export function recorded(name: string): UIMessageChunk[] {
  const lines = readFileSync(join(FOLDER, `${name}.jsonl`), 'utf8')
    .trimEnd()
    .split('\n');
  return lines.map((line) => JSON.parse(line));
}

/** A server response that carries these chunks. */
export function streamed(chunks: UIMessageChunk[]): Response {
  const events = chunks.map((chunk, index) => `id: ${index + 1}\ndata: ${JSON.stringify(chunk)}\n\n`);
  return new Response(`retry: 1000\n\n${events.join('')}data: [DONE]\n\n`, {
    headers: { 'content-type': 'text/event-stream', 'x-vercel-ai-ui-message-stream': 'v1' },
  });
}
