import { useMemo, useState } from 'react';
import { Button } from '@/ui/buttons/button';
import { CopyButton } from '@/ui/buttons/copy-button';
import { classes } from '@/ui/classes';
import { Markdown } from '@/ui/markdown/markdown';
import { Panel } from '@/ui/page/page';
import { asText } from '@/ui/schema-form/draft';
import { fieldsOf } from '@/ui/schema-form/schema';
import { count } from '@/ui/text/format';
import { humanName } from '@/ui/text/names';
import { Value } from '@/ui/values/values';
import type { NamedOutput } from './live-outputs';

type Props = {
  outputs: NamedOutput[];
  /** Which values are shown first: the latest while the run is running, otherwise the first. */
  from: 'beginning' | 'end';
  /** The server has more values than it sent. */
  isTruncated: boolean;
  hasEnded: boolean;
  /** Schema of the agent's outputs, for their titles. */
  schema: unknown;
};

const FIRST_SHOWN = 5;
const MORE_SHOWN = 100;
const SHORT_TEXT = 120;

/** Outputs of a run by name, each with a copy button. */
export function RunOutputs({ outputs, from, isTruncated, hasEnded, schema }: Props) {
  const titles = new Map(fieldsOf(schema).map((field) => [field.name, field.label]));
  return (
    <Panel title="Outputs">
      {outputs.length === 0 ? (
        <p className="text-sm text-muted">{hasEnded ? 'No output.' : 'No output yet.'}</p>
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
      {isTruncated && <p className="mt-3 text-xs text-muted">Some outputs are not shown.</p>}
    </Panel>
  );
}

type OutputProps = { title: string; output: NamedOutput; from: Props['from'] };

function Output({ title, output: { values, total }, from }: OutputProps) {
  const [shown, setShown] = useState(FIRST_SHOWN);
  const more = Math.max(0, values.length - shown);
  const skipped = from === 'end' ? more : 0;
  // A value keeps its number when older values are dropped and when the run ends.
  const firstNumber = total - values.length + skipped;
  // Memoized: serializing ten thousand values on every render would be slow.
  const copyText = useMemo(
    () => (values.length === 1 ? asText(values[0]) : JSON.stringify(values, null, 2)),
    [values],
  );
  const sharesBox = values.length > 1 && values.every(isShort);
  const moreButton = more > 0 && (
    <Button kind="quiet" size="small" className="my-1" onClick={() => setShown(shown + MORE_SHOWN)}>
      Show {count(Math.min(more, MORE_SHOWN))} {from === 'end' ? 'earlier' : 'more'}
    </Button>
  );
  return (
    <div className="min-w-0">
      <dt className="flex min-h-9 items-center gap-2 text-sm font-medium">
        <span className="min-w-0 break-words">{title}</span>
        {total > 1 && (
          <span className="text-xs font-normal text-muted">{valueCount(values.length, total)}</span>
        )}
        <CopyButton label={`Copy ${title}`} text={copyText} />
      </dt>
      {from === 'end' && moreButton}
      <dd
        className={classes(
          'flex min-w-0 flex-col text-sm',
          sharesBox ? 'rounded-lg bg-sunken px-3 py-1.5' : 'gap-1.5',
        )}
      >
        {values.slice(skipped, skipped + shown).map((value, index) => (
          <div
            // biome-ignore lint/suspicious/noArrayIndexKey: the number belongs to the value, it is not the index in this list.
            key={firstNumber + index}
            className={classes(
              'min-w-0',
              // Other values have a box of their own.
              sharesBox ? 'py-0.5' : isPlain(value) && 'rounded-lg bg-sunken px-3 py-2',
            )}
          >
            <ReadableValue value={value} />
          </div>
        ))}
      </dd>
      {from === 'beginning' && moreButton}
    </div>
  );
}

function valueCount(available: number, total: number): string {
  return available < total ? `Last ${count(available)} of ${count(total)} values` : `${count(total)} values`;
}

/** Renders text that contains Markdown syntax as Markdown; other text keeps its line breaks. */
function ReadableValue({ value }: { value: unknown }) {
  if (typeof value === 'string' && value.length < 20_000 && isMarkdown(value))
    return <Markdown text={value} />;
  return <Value value={value} />;
}

function isPlain(value: unknown): boolean {
  return typeof value !== 'object' || value === null;
}

function isShort(value: unknown): boolean {
  return (
    isPlain(value) && (typeof value !== 'string' || (value.length < SHORT_TEXT && !value.includes('\n')))
  );
}

const MARKDOWN = [
  /^#{1,4} \S/m,
  /^\|.*\|\s*\n\|[ :|-]+\|\s*$/m,
  /^[-*] \[[ x]\] /m,
  /\[[^\]\n]+\]\(https?:\/\//,
  /^```/m,
];

function isMarkdown(text: string): boolean {
  return MARKDOWN.some((pattern) => pattern.test(text));
}
