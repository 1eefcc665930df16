import { useMemo, useState } from 'react';
import { Value } from '@/tools/values';
import { Button } from '@/ui/button';
import { classes } from '@/ui/classes';
import { CopyButton } from '@/ui/copy-button';
import { count } from '@/ui/format';
import { Markdown } from '@/ui/markdown';
import { humanName } from '@/ui/names';
import { Panel } from '@/ui/page';
import { written } from '@/ui/schema-form/draft';
import { fieldsOf } from '@/ui/schema-form/schema';
import type { NamedOutput } from './live-outputs';

type Props = {
  outputs: NamedOutput[];
  /** Which of many values are shown before somebody asks for the others: of a run under way the newest. */
  from: 'beginning' | 'end';
  /** There are more than the server has sent. */
  isCut: boolean;
  hasEnded: boolean;
  /** Of the agent's outputs, for their titles. */
  schema: unknown;
};

const FIRST_SHOWN = 5;
const MORE_SHOWN = 100;
const SHORT = 120;

/** What a run gave: by name, every value so that it can be read and copied. */
export function RunOutputs({ outputs, from, isCut, hasEnded, schema }: Props) {
  const titles = new Map(fieldsOf(schema).map((field) => [field.name, field.label]));
  return (
    <Panel title="Outputs">
      {outputs.length === 0 ? (
        <p className="text-sm text-muted">{hasEnded ? 'It gave nothing.' : 'Nothing yet.'}</p>
      ) : (
        <dl className="flex flex-col gap-4">
          {outputs.map((output) => (
            <Output
              key={output.name}
              title={titles.get(output.name) ?? humanName(output.name)}
              output={output}
              from={from}
            />
          ))}
        </dl>
      )}
      {isCut && <p className="mt-3 text-xs text-muted">There is more than is shown here.</p>}
    </Panel>
  );
}

type OutputProps = { title: string; output: NamedOutput; from: Props['from'] };

function Output({ title, output: { values, total }, from }: OutputProps) {
  const [shown, setShown] = useState(FIRST_SHOWN);
  const more = Math.max(0, values.length - shown);
  const skipped = from === 'end' ? more : 0;
  // A value keeps its number when older ones are let go, and when the run ends.
  const firstNumber = total - values.length + skipped;
  // Ten thousand values are not written out again whenever something else on the page changes.
  const copied = useMemo(
    () => (values.length === 1 ? written(values[0]) : JSON.stringify(values, null, 2)),
    [values],
  );
  const inOneBox = values.length > 1 && values.every(isShort);
  const others = more > 0 && (
    <Button kind="quiet" size="small" className="my-1" onClick={() => setShown(shown + MORE_SHOWN)}>
      Show {count(Math.min(more, MORE_SHOWN))} {from === 'end' ? 'earlier' : 'more'}
    </Button>
  );
  return (
    <div className="min-w-0">
      <dt className="flex min-h-9 items-center gap-2 text-sm font-medium">
        <span className="min-w-0 break-words">{title}</span>
        {total > 1 && <span className="text-xs font-normal text-muted">{howMany(values.length, total)}</span>}
        <CopyButton label={`Copy ${title}`} text={copied} />
      </dt>
      {from === 'end' && others}
      <dd
        className={classes(
          'flex min-w-0 flex-col text-sm',
          inOneBox ? 'rounded-lg bg-sunken px-3 py-1.5' : 'gap-1.5',
        )}
      >
        {values.slice(skipped, skipped + shown).map((value, place) => (
          <div
            // biome-ignore lint/suspicious/noArrayIndexKey: the number is the value's own, not its place in this list.
            key={firstNumber + place}
            className={classes(
              'min-w-0',
              // What is not plain brings a frame of its own.
              inOneBox ? 'py-0.5' : isPlain(value) && 'rounded-lg bg-sunken px-3 py-2',
            )}
          >
            <ReadableValue value={value} />
          </div>
        ))}
      </dd>
      {from === 'beginning' && others}
    </div>
  );
}

function howMany(atHand: number, total: number): string {
  return atHand < total ? `The last ${count(atHand)} of ${count(total)} values` : `${count(total)} values`;
}

/** Markdown where it is meant to be read as such; a letter keeps its lines. */
function ReadableValue({ value }: { value: unknown }) {
  if (typeof value === 'string' && value.length < 20_000 && isMarkdown(value))
    return <Markdown text={value} />;
  return <Value value={value} />;
}

function isPlain(value: unknown): boolean {
  return typeof value !== 'object' || value === null;
}

function isShort(value: unknown): boolean {
  return isPlain(value) && (typeof value !== 'string' || (value.length < SHORT && !value.includes('\n')));
}

const MARKDOWN = [
  /^#{1,4} \S/m,
  /^\|.*\|\s*\n\|[ :|-]+\|\s*$/m,
  /^[-*] \[[ x]\] /m,
  /\[[^\]\n]+\]\(https?:\/\//,
  /^```/m,
];

function isMarkdown(text: string): boolean {
  return MARKDOWN.some((sign) => sign.test(text));
}
