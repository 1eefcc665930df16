// Splits a text into blocks that are rendered independently, so that a streaming response renders only its last
// block again. It splits only where every Markdown parser would: around fenced code, and at an empty line before
// something that is neither indented nor another item of the list above. Too few splits are still rendered correctly.

/** Longer blocks are shown as plain text: parsing time grows faster than the text. */
const MAX_LENGTH = 60_000;
/** Deeply nested quotes or lists could overflow the parser's stack. */
const DEEP_NESTING = /^(?:[ \t]*(?:>|[-*+](?=\s)|\d{1,9}[.)](?=\s))){40}/m;
const FENCE = /^ {0,3}(?:(`{3,})([^`]*)|(~{3,})(.*))$/;
const ITEM = /^(?:[-*+]|\d{1,9}[.)])(?:\s|$)/;
const FOOTNOTE = /^\[\^[^\]\s]+\]:/m;
const DEFINITION = /^ {0,3}\[[^\]]+\]:[ \t]*\S.*$/gm;

export type MarkdownBlock =
  | { kind: 'markdown'; text: string }
  | { kind: 'plain'; text: string }
  /** Code needs no parser, however long it is. `open` until the first line, which names the language, is complete. */
  | { kind: 'code'; text: string; language: string | null; open: boolean };

/** The result for a text, reused when more text has arrived. */
export type SplitMarkdown = { text: string; pieces: string[]; blocks: MarkdownBlock[] };

export const EMPTY_SPLIT: SplitMarkdown = { text: '', pieces: [], blocks: [] };

/** Number of final pieces that may still change: `1` may become the item `1.` of the list before it. */
const PIECES_THAT_MAY_CHANGE = 2;

export function splitMarkdown(text: string, before: SplitMarkdown = EMPTY_SPLIT): SplitMarkdown {
  if (text === before.text) return before;
  // A footnote and its reference may be far apart and must be parsed together.
  if (FOOTNOTE.test(text)) return { text, pieces: [text], blocks: [blockOf(text, [])] };
  const stable = text.startsWith(before.text) ? before.pieces.slice(0, -PIECES_THAT_MAY_CHANGE) : [];
  const from = stable.reduce((length, piece) => length + piece.length, 0);
  const pieces = [...stable, ...piecesOf(text.slice(from))];
  const definitions = text.match(DEFINITION) ?? [];
  return {
    text,
    pieces,
    blocks: pieces.filter((piece) => piece.trim()).map((piece) => blockOf(piece, definitions)),
  };
}

/** All of the text, in pieces that end at the end of a line. */
function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  let piece = '';
  let fence: string | null = null;
  let afterEmptyLine = false;
  const finish = () => {
    if (piece) pieces.push(piece);
    piece = '';
  };
  for (const line of text.match(/.*\n|.+$/g) ?? []) {
    const mark = fenceOf(line);
    if (fence !== null) {
      piece += line;
      if (mark?.startsWith(fence) && line.trim() === mark) {
        finish();
        fence = null;
      }
      continue;
    }
    // An indented fence below an item belongs to the list.
    if (mark !== null && !(line.startsWith(' ') && ITEM.test(piece))) {
      finish();
      fence = mark;
    } else if (afterEmptyLine && startsBlock(line, piece)) {
      finish();
    }
    piece += line;
    afterEmptyLine = line.trim() === '';
  }
  finish();
  return pieces;
}

function fenceOf(line: string): string | null {
  const match = FENCE.exec(line.trimEnd());
  return match?.[1] ?? match?.[3] ?? null;
}

function startsBlock(line: string, piece: string): boolean {
  if (line.trim() === '' || /^[ \t]/.test(line)) return false;
  return !(ITEM.test(line) && ITEM.test(piece));
}

function blockOf(piece: string, definitions: readonly string[]): MarkdownBlock {
  const text = piece.replace(/^\n+|\s+$/g, '');
  if (fenceOf(text.split('\n', 1)[0] ?? '') !== null) return codeOf(text, piece.includes('\n'));
  if (text.length > MAX_LENGTH || DEEP_NESTING.test(text)) return { kind: 'plain', text };
  // A reference link `[text][name]` needs the definition of `name`, which may be anywhere.
  const named = definitions.length > 0 && text.includes('[');
  return { kind: 'markdown', text: named ? `${text}\n\n${definitions.join('\n')}` : text };
}

function codeOf(text: string, firstLineIsWhole: boolean): MarkdownBlock {
  const [first = '', ...rest] = text.split('\n');
  const [, ticks, afterTicks, tildes, afterTildes] = FENCE.exec(first) ?? [];
  const fence = ticks ?? tildes ?? '';
  const indent = first.length - first.trimStart().length;
  const last = rest.at(-1)?.trim() ?? '';
  const closed = last.startsWith(fence) && last === fenceOf(last);
  const lines = (closed ? rest.slice(0, -1) : rest).map((line) =>
    line.replace(new RegExp(`^ {0,${indent}}`), ''),
  );
  const language = (afterTicks ?? afterTildes ?? '').trim().split(/\s+/)[0] || null;
  return { kind: 'code', text: lines.join('\n'), language, open: !firstLineIsWhole };
}
