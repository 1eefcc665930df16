import { classes } from '@/ui/classes';
import { More } from '@/ui/page/more';
import { ScrollBox } from '@/ui/page/scroll-box';

const COLORS = {
  '+': 'bg-good-soft text-good',
  '-': 'bg-bad-soft text-bad',
  '~': 'bg-accent-soft text-accent',
  '!': 'bg-warn-soft text-warn',
} as const;

export type DiffSign = keyof typeof COLORS;
export type SignedLine = { text: string; sign: DiffSign | null };

const LINE = 'px-3 py-0.5 whitespace-pre-wrap break-words';

/** Lines beyond this number are counted, not shown. */
const MAX_LINES = 100;

/** What changed in an agent, a line each: added (`+`), removed (`-`), changed (`~`), and what it means (`!`). */
export function DiffLines({ diff }: { diff: string }) {
  return <SignedLines lines={signedLines(diff)} />;
}

export function SignedLines({ lines }: { lines: SignedLine[] }) {
  const shown = lines.slice(0, MAX_LINES);
  return (
    <div className="flex flex-col gap-1.5">
      <ScrollBox label="Changes" className="border border-line font-mono text-xs">
        <ul>
          {shown.map(({ text, sign }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the lines never change, and two may be identical.
            <li key={index} className={classes(LINE, sign && COLORS[sign])}>
              {text}
            </li>
          ))}
        </ul>
      </ScrollBox>
      <More number={lines.length - shown.length} />
    </div>
  );
}

/** An indented line belongs to the line before it, and has its sign. */
export function signedLines(diff: string): SignedLine[] {
  let sign: DiffSign | null = null;
  return diff
    .split('\n')
    .filter((line) => line.trim())
    .map((text) => {
      if (!text.startsWith(' ')) sign = signOf(text);
      return { text, sign };
    });
}

function signOf(line: string): DiffSign | null {
  const first = line.charAt(0);
  return Object.hasOwn(COLORS, first) ? (first as DiffSign) : null;
}
