// Shows values from tools and agents in readable form: text, links, images, tables, and JSON for the rest.

import { ExternalLink } from 'lucide-react';
import type { ReactNode } from 'react';
import { useState } from 'react';
import { count } from '../text/format';
import { humanName } from '../text/names';
import { Json } from './json';
import { asTable, ValueTable } from './value-table';

const LONG_TEXT = 1_500;
const IMAGE = /^data:image\/(png|jpeg|gif|webp|avif);base64,/;
/** Values beyond this number are counted, not shown. */
const MAX_VALUES = 20;

/** Outputs of a run or a block by name. Each name has one value or a list of values. */
export function Outputs({ outputs }: { outputs: Record<string, unknown> }) {
  const named = Object.entries(outputs ?? {});
  if (named.length === 0) return <p className="text-sm text-muted">No output.</p>;
  return (
    <dl className="flex flex-col gap-3">
      {named.map(([name, values]) => (
        <div key={name} className="min-w-0">
          <dt className="mb-1 text-xs font-medium text-muted">{humanName(name)}</dt>
          <dd className="flex min-w-0 flex-col gap-1.5">
            <Values values={Array.isArray(values) ? values : [values]} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Values({ values }: { values: unknown[] }): ReactNode {
  if (values.length === 0) return <span className="text-muted">None</span>;
  const shown = values.slice(0, MAX_VALUES);
  return (
    <>
      {shown.map((value, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the order of the values never changes.
        <Value key={index} value={value} />
      ))}
      {values.length > shown.length && (
        <p className="text-xs text-muted">and {count(values.length - shown.length)} more</p>
      )}
    </>
  );
}

export function Value({ value }: { value: unknown }): ReactNode {
  if (value === null || value === undefined || value === '') return <span className="text-muted">None</span>;
  if (typeof value === 'string') return <Text text={value} />;
  if (typeof value === 'number') return <span className="tabular-nums">{String(value)}</span>;
  if (typeof value === 'boolean') return <span>{value ? 'Yes' : 'No'}</span>;
  const table = asTable(value);
  return table ? <ValueTable table={table} /> : <Json value={value} />;
}

function Text({ text }: { text: string }) {
  const [whole, setWhole] = useState(false);
  if (IMAGE.test(text)) return <img src={text} alt="Output" className="max-h-80 max-w-full rounded-lg" />;
  const link = pageAddress(text);
  if (link) return <OutsideLink href={link} />;
  const cut = !whole && text.length > LONG_TEXT;
  return (
    <div className="min-w-0">
      <p className="break-words whitespace-pre-wrap">{cut ? `${text.slice(0, LONG_TEXT)}…` : text}</p>
      {cut && (
        <button
          type="button"
          onClick={() => setWhole(true)}
          className="rounded py-1 text-xs font-medium text-accent hover:underline pointer-coarse:min-h-10"
        >
          Show all {count(text.length)} characters
        </button>
      )}
    </div>
  );
}

/** Link to an external page, opened in a new tab without access to this one. */
export function OutsideLink({ href, children }: { href: string; children?: ReactNode }) {
  return (
    <a
      href={href}
      target="_blank"
      rel="noreferrer noopener"
      className="inline-flex max-w-full items-center gap-1 text-accent pointer-coarse:min-h-10 underline-offset-2 hover:underline"
    >
      <span className="min-w-0 break-all">{children ?? href}</span>
      <ExternalLink aria-hidden className="size-3.5 shrink-0" />
      <span className="sr-only">(opens in a new tab)</span>
    </a>
  );
}

/** The URL if the text is an http(s) address, otherwise null; never `javascript:` or `data:`. */
export function pageAddress(text: string): string | null {
  if (!/^https?:\/\/\S+$/i.test(text.trim())) return null;
  try {
    return new URL(text.trim()).href;
  } catch {
    return null;
  }
}
