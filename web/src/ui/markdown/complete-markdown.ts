// Completes a block that is still streaming: closes open marks, and hides a last mark whose meaning depends on the next
// characters.

const FENCE = /^\s*(?:[-*+]\s+|\d+[.)]\s+|>\s*)*(`{3,}|~{3,})(.*)$/;
/** More open marks than this are not emphasis. */
const MAX_OPEN_MARKS = 6;

export function completeMarkdown(block: string): string {
  const lines = block.split('\n');
  if (isInsideFence(lines)) return withoutPartialFence(block);
  const settled = withoutAmbiguousLine(lines);
  return withDelimiterRow(closeInline(settled.join('\n')));
}

/** Hides one or two backticks at the end, which are the start of a closing fence. */
export function withoutPartialFence(code: string): string {
  return code.replace(/(^|\n)[ \t]*(`{1,2}|~{1,2})$/, '');
}

/** Whether the last line is inside a fence in a list or a quote. Top-level code has a block of its own. */
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

/** A `-` below a line would briefly make it a heading; `#` or two backticks mean nothing yet. */
function withoutAmbiguousLine(lines: string[]): string[] {
  return /^\s*([-=]+|[*+]|#{1,6}|`{1,2}|~{1,2})\s*$/.test(lines.at(-1) ?? '') ? lines.slice(0, -1) : lines;
}

/** A table header is recognized only together with its delimiter row, which arrives a moment later. */
function withDelimiterRow(text: string): string {
  const lines = text.split('\n');
  const last = lines.at(-1) ?? '';
  const before = lines.at(-2);
  const isRow = (line: string | undefined) => line !== undefined && /^\s*\|.*\S/.test(line);
  if (!isRow(last)) return text;
  if (!isRow(before)) return `${text}\n${delimiterRow(last)}`;
  const isPartialDelimiter = !isRow(lines.at(-3)) && /^[\s|:-]+$/.test(last);
  return isPartialDelimiter ? [...lines.slice(0, -1), delimiterRow(before ?? '')].join('\n') : text;
}

function delimiterRow(head: string): string {
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
        return end === piece.length
          ? closeOpenMarks(piece.slice(0, match.index), open)
          : closeOpenMarks(piece, open, ticks);
      marks.lastIndex = close;
    } else if (mark) {
      const before = piece[match.index - 1] ?? ' ';
      const after = piece[end] ?? ' ';
      const inWord = mark.startsWith('_') && /\w/.test(before) && /\w/.test(after);
      if (inWord) continue;
      if (open.at(-1) === mark && /\S/.test(before)) open.pop();
      // Half of the closing mark: the other half will follow.
      else if (end === piece.length && open.at(-1)?.startsWith(mark))
        return closeOpenMarks(piece.slice(0, match.index), open);
      else if (/\S/.test(after)) open.push(mark);
      else if (end === piece.length && isMarkAlone(before))
        return closeOpenMarks(piece.slice(0, match.index), open);
    }
  }
  return closeOpenMarks(piece, open);
}

/** A mark at the end of the text and after a space will open something. */
function isMarkAlone(before: string): boolean {
  return /[\s([]/.test(before);
}

function closingTicks(piece: string, ticks: string, from: number): number {
  for (const run of piece.slice(from).matchAll(/`+/g)) {
    if (run[0].length === ticks.length) return from + run.index + ticks.length;
  }
  return -1;
}

/** A closing mark must follow a non-space character, so trailing spaces go after it. */
function closeOpenMarks(piece: string, open: string[], ticks = ''): string {
  if ((open.length === 0 && !ticks) || open.length > MAX_OPEN_MARKS) return piece;
  const body = piece.trimEnd();
  return body + ticks + [...open].reverse().join('') + piece.slice(body.length);
}
