// Cuts a text into blocks that can be shown each for itself, so that a streaming answer makes only its last one
// again. It cuts only where any reader of markdown would: around fenced code, and at an empty line before
// something that is neither indented nor a further item of the list above. Two blocks left in one piece are shown
// right as well.

/** More in one piece is shown as plain text: the parser's time grows faster than the text. */
const LONGEST = 60_000;
/** Quotes in quotes, or lists in lists: deeper than anybody reads, and deeper than a stack may go. */
const TOO_DEEP = /^(?:[ \t]*(?:>|[-*+](?=\s)|\d{1,9}[.)](?=\s))){40}/m;
const FENCE = /^ {0,3}(?:(`{3,})([^`]*)|(~{3,})(.*))$/;
const ITEM = /^(?:[-*+]|\d{1,9}[.)])(?:\s|$)/;
const FOOTNOTE = /^\[\^[^\]\s]+\]:/m;
const DEFINITION = /^ {0,3}\[[^\]]+\]:[ \t]*\S.*$/gm;

export type Block =
  | { kind: 'markdown'; text: string }
  | { kind: 'plain'; text: string }
  /** Code needs no parser, however long it is. `open` until its first line, which names the language, is whole. */
  | { kind: 'code'; text: string; language: string | null; open: boolean };

/** What is known about a text, to go on from when more of it has come. */
export type Cut = { text: string; pieces: string[]; blocks: Block[] };

export const NOTHING: Cut = { text: '', pieces: [], blocks: [] };

/** Pieces at the end that may still change: `1` may become the item `1.` of the list before it. */
const UNSETTLED = 2;

export function cut(text: string, before: Cut = NOTHING): Cut {
  if (text === before.text) return before;
  // A footnote and its mark may be far apart, and only together are they one.
  if (FOOTNOTE.test(text)) return { text, pieces: [text], blocks: [blockOf(text, [])] };
  const settled = text.startsWith(before.text) ? before.pieces.slice(0, -UNSETTLED) : [];
  const from = settled.reduce((length, piece) => length + piece.length, 0);
  const pieces = [...settled, ...piecesOf(text.slice(from))];
  const definitions = text.match(DEFINITION) ?? [];
  return {
    text,
    pieces,
    blocks: pieces.filter((piece) => piece.trim()).map((piece) => blockOf(piece, definitions)),
  };
}

/** All of the text, in pieces that end with their line's end. */
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
    // Indented below an item it belongs to the list.
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

function blockOf(piece: string, definitions: readonly string[]): Block {
  const text = piece.replace(/^\n+|\s+$/g, '');
  if (fenceOf(text.split('\n', 1)[0] ?? '') !== null) return codeOf(text, piece.includes('\n'));
  if (text.length > LONGEST || TOO_DEEP.test(text)) return { kind: 'plain', text };
  // `[words][name]` needs the line that says where `name` leads, which may be anywhere.
  const named = definitions.length > 0 && text.includes('[');
  return { kind: 'markdown', text: named ? `${text}\n\n${definitions.join('\n')}` : text };
}

function codeOf(text: string, firstLineIsWhole: boolean): Block {
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
