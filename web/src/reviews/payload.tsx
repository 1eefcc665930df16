// The content of a review, read-only or editable.

import type { Review } from '@/protocol';
import { classes } from '@/ui/classes';
import { Field, TextArea } from '@/ui/form/field';
import { Json } from '@/ui/values/json';
import { type Draft, errorsOf, fieldsOf, hasFields, textOf } from './draft';

/** Shows strings as text, objects field by field, and other values as JSON. */
export function Payload({ payload }: { payload: unknown }) {
  if (typeof payload === 'string') return <PlainText text={payload} />;
  if (!hasFields(payload)) return <Json value={payload} />;
  return (
    <dl className="flex flex-col gap-3">
      {fieldsOf(payload).map(({ name, kind, original }) => (
        <div key={name} className="flex min-w-0 flex-col gap-1">
          <dt className="text-xs font-medium break-words text-muted">{name}</dt>
          <dd className="min-w-0">
            {kind === 'text' ? <PlainText text={original} /> : <Json value={original} />}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function PlainText({ text }: { text: string }) {
  return (
    // Focusable for keyboard scrolling.
    <div
      tabIndex={0}
      className="max-h-96 overflow-y-auto rounded-lg bg-sunken px-3 py-2 text-sm leading-relaxed break-words whitespace-pre-wrap"
    >
      {text === '' ? <span className="text-muted">Empty</span> : text}
    </div>
  );
}

type EditorProps = { review: Review; draft: Draft; onChange: (changes: Draft['changes']) => void };

export function PayloadEditor({ review, draft, onChange }: EditorProps) {
  const errors = errorsOf(review, draft);
  return (
    <div className="flex flex-col gap-3">
      {fieldsOf(review.payload).map((field) => (
        <Field
          key={field.name}
          label={field.name}
          error={errors.get(field.name)}
          hint={field.kind === 'json' ? 'JSON' : undefined}
        >
          {(control) => (
            <TextArea
              {...control}
              value={textOf(field, draft)}
              rows={rowsFor(field.original)}
              spellCheck={field.kind === 'text'}
              onChange={(event) => onChange({ ...draft.changes, [field.name]: event.target.value })}
              className={classes('min-h-10!', field.kind === 'json' && 'font-mono')}
            />
          )}
        </Field>
      ))}
    </div>
  );
}

/** Number of text area rows that fits the text, with a limit. */
function rowsFor(text: string): number {
  const CHARS_PER_LINE = 80;
  const lines = text
    .split('\n')
    .reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / CHARS_PER_LINE)), 0);
  return Math.min(lines > 1 ? lines + 1 : 1, 16);
}
