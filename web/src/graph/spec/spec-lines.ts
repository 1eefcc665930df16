// Finds the line of a problem in the text of a spec, without parsing it: the text may be broken.

import type { GraphProblem } from '@/protocol';

const SECTIONS = ['steps', 'inputs', 'outputs'];

/** The line of a key, -1 for the whole text, and the line after its contents. */
type Block = { line: number; end: number };

/** The index of the line that a problem is about: of its pin, else of its step; null if neither is found. */
export function lineOfProblem(spec: string, { path, step }: GraphProblem): number | null {
  const lines = spec.split('\n');
  for (const keys of pathsOf(path, step)) {
    const line = lineOfPath(lines, keys);
    if (line !== null) return line;
  }
  return null;
}

/** The positions of the first and after the last character of a line. */
export function rangeOfLine(text: string, line: number): [start: number, end: number] {
  const lines = text.split('\n');
  const start = lines.slice(0, line).reduce((sum, one) => sum + one.length + 1, 0);
  return [start, start + (lines[line] ?? '').length];
}

function pathsOf(path: string | null | undefined, step: string | null | undefined): string[][] {
  const keys = path ? path.split('.') : [];
  return [...(keys.length > 0 ? [keys] : []), ...(step ? SECTIONS.map((section) => [section, step]) : [])];
}

/** Follows the keys into the text as far as they are found. The first two must be: the section and the name in it. */
function lineOfPath(lines: string[], keys: string[]): number | null {
  let inside: Block = { line: -1, end: lines.length };
  let found: number | null = null;
  for (const [depth, key] of keys.entries()) {
    const line = lineOfKey(lines, key, inside);
    if (line === null) return depth < Math.min(2, keys.length) ? null : found;
    found = line;
    inside = blockOf(lines, line);
  }
  return found;
}

/** The line in a block that begins with a key, on the outermost level, else one that contains it: `{page: {block: …}}`. */
function lineOfKey(lines: string[], key: string, { line, end }: Block): number | null {
  const quoted = `["']?${key.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}["']?\\s*:`;
  const atBeginning = new RegExp(`^\\s*${quoted}`);
  const within = new RegExp(`[{,\\s]${quoted}`);
  const candidates = range(line + 1, end).filter((index) => atBeginning.test(lines[index] ?? ''));
  const outermost = Math.min(...candidates.map((index) => indentOf(lines[index])));
  return (
    candidates.find((index) => indentOf(lines[index]) === outermost) ??
    range(Math.max(line, 0), end).find((index) => within.test(lines[index] ?? '')) ??
    null
  );
}

/** The contents of a key are the lines below it that are indented more. */
function blockOf(lines: string[], line: number): Block {
  const indent = indentOf(lines[line]);
  const next = range(line + 1, lines.length).find((index) => {
    const text = lines[index] ?? '';
    return text.trim() !== '' && !text.trim().startsWith('#') && indentOf(text) <= indent;
  });
  return { line, end: next ?? lines.length };
}

function indentOf(line = ''): number {
  return line.length - line.trimStart().length;
}

function range(start: number, end: number): number[] {
  return Array.from({ length: Math.max(0, end - start) }, (_, index) => start + index);
}
