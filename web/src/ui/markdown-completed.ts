// A block that is still being written, as it will look: what was opened is closed, and a mark that may yet turn
// out to be something else is left out until the next characters decide.

const FENCE = /^\s*(?:[-*+]\s+|\d+[.)]\s+|>\s*)*(`{3,}|~{3,})(.*)$/;
/** More marks that are open at once are no emphasis but noise. */
const MOST_OPEN = 6;

export function completed(block: string): string {
  const lines = block.split('\n');
  if (isInsideFence(lines)) return withoutHalfFence(block);
  const settled = withoutUndecidedLine(lines);
  return withTableBelow(closeInline(settled.join('\n')));
}

/** Two backticks of a closing fence are no code. */
export function withoutHalfFence(code: string): string {
  return code.replace(/(^|\n)[ \t]*(`{1,2}|~{1,2})$/, '');
}

/** A code block is a block of its own; one inside a list or a quote is not. */
function isInsideFence(lines: string[]): boolean {
  let open: string | null = null;
  for (const line of lines) {
    const fence = FENCE.exec(line)?.[1];
    if (!fence) continue;
    if (open === null) open = fence;
    else if (fence.startsWith(open) && line.trim() === fence) open = null;
  }
  return open !== null;
}

/** `-` below a line would make it a heading for a moment, and `#` or two backticks stand for nothing yet. */
function withoutUndecidedLine(lines: string[]): string[] {
  return /^\s*([-=]+|[*+]|#{1,6}|`{1,2}|~{1,2})\s*$/.test(lines.at(-1) ?? '') ? lines.slice(0, -1) : lines;
}

/** The head of a table is one only with the line below it, which comes a moment later. */
function withTableBelow(text: string): string {
  const lines = text.split('\n');
  const last = lines.at(-1) ?? '';
  const before = lines.at(-2);
  const isRow = (line: string | undefined) => line !== undefined && /^\s*\|.*\S/.test(line);
  if (!isRow(last)) return text;
  if (!isRow(before)) return `${text}\n${lineBelow(last)}`;
  const isFirstBelow = !isRow(lines.at(-3)) && /^[\s|:-]+$/.test(last);
  return isFirstBelow ? [...lines.slice(0, -1), lineBelow(before ?? '')].join('\n') : text;
}

function lineBelow(head: string): string {
  const cells = head
    .trim()
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/).length;
  return `|${' --- |'.repeat(cells)}`;
}

/** Closes code, emphasis and links that were opened in the last paragraph, item or row. */
function closeInline(text: string): string {
  const start = startOfLastPiece(text);
  const piece = text.slice(start);
  const link = /!?\[([^[\]]*)\]\([^()\s]*$/.exec(piece);
  const plain = link ? piece.slice(0, link.index) + link[1] : piece;
  return text.slice(0, start) + closeMarks(plain);
}

function startOfLastPiece(text: string): number {
  let start = 0;
  for (const match of text.matchAll(/\n\s*\n|\n(?=\s*(?:[-*+]|\d+[.)])\s)|\n(?=\s*[|#>])/g)) {
    start = match.index + match[0].length;
  }
  return start;
}

function closeMarks(piece: string): string {
  const open: string[] = [];
  const marks = /\\.|(`+)|(\*{1,3}|_{1,3}|~~)/gs;
  for (let match = marks.exec(piece); match; match = marks.exec(piece)) {
    const [whole, ticks, mark] = match;
    const end = match.index + whole.length;
    if (ticks) {
      const close = closingTicks(piece, ticks, end);
      if (close === -1)
        return end === piece.length ? shut(piece.slice(0, match.index), open) : shut(piece, open, ticks);
      marks.lastIndex = close;
    } else if (mark) {
      const before = piece[match.index - 1] ?? ' ';
      const after = piece[end] ?? ' ';
      const inWord = mark.startsWith('_') && /\w/.test(before) && /\w/.test(after);
      if (inWord) continue;
      if (open.at(-1) === mark && /\S/.test(before)) open.pop();
      // Half of the mark that closes: the other half is on its way.
      else if (end === piece.length && open.at(-1)?.startsWith(mark))
        return shut(piece.slice(0, match.index), open);
      else if (/\S/.test(after)) open.push(mark);
      else if (end === piece.length && isMarkAlone(before)) return shut(piece.slice(0, match.index), open);
    }
  }
  return shut(piece, open);
}

/** At the end of the text and after a space: it will open something. */
function isMarkAlone(before: string): boolean {
  return /[\s([]/.test(before);
}

function closingTicks(piece: string, ticks: string, from: number): number {
  for (const run of piece.slice(from).matchAll(/`+/g)) {
    if (run[0].length === ticks.length) return from + run.index + ticks.length;
  }
  return -1;
}

/** A mark closes only right after a letter, so spaces at the end go behind it. */
function shut(piece: string, open: string[], ticks = ''): string {
  if ((open.length === 0 && !ticks) || open.length > MOST_OPEN) return piece;
  const body = piece.trimEnd();
  return body + ticks + [...open].reverse().join('') + piece.slice(body.length);
}
