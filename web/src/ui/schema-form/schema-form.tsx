import { type FormEvent, type ReactNode, useId, useMemo, useRef, useState } from 'react';
import { Button } from '../buttons/button';
import { Fold } from '../page/fold';
import { SchemaField } from './control';
import { type Draft, draftOf, readDraft } from './draft';
import { type FieldSpec, fieldsOf } from './schema';

export type Values = Record<string, unknown>;

/** The typed drafts, by field. */
export type FormDrafts = ReadonlyMap<string, Draft>;

type Props = {
  /** JSON schema of an object: the inputs of an agent or a block. */
  schema: unknown;
  initial?: Values;
  submitLabel: string;
  busy?: boolean;
  /** Server errors by field. */
  errors?: Record<string, string>;
  onSubmit: (values: Values) => void;
  /** For callers that keep the drafts longer than the form is mounted. */
  typed?: FormDrafts;
  onTyped?: (typed: FormDrafts) => void;
  /** Shown next to the submit button. */
  children?: ReactNode;
};

/** A form generated from a schema. Typed values are kept when the schema, the errors or the initial values change. */
export function SchemaForm({
  schema,
  initial,
  submitLabel,
  busy,
  errors,
  onSubmit,
  children,
  ...kept
}: Props) {
  const fields = useMemo(() => fieldsOf(schema), [schema]);
  const form = useRef<HTMLFormElement>(null);
  const summary = useId();
  const [ownTyped, setOwnTyped] = useState<FormDrafts>(new Map());
  const { typed = ownTyped, onTyped = setOwnTyped } = kept;
  // Errors are shown after the first submit, and disappear when the field is changed.
  const [found, setFound] = useState<ReadonlyMap<string, string>>(new Map());
  const [answered, setAnswered] = useState<{ to: unknown; fields: ReadonlySet<string> }>(NOTHING);

  const startOf = (field: FieldSpec) => own(initial, field.name) ?? field.default;
  const draft = (field: FieldSpec) => typed.get(field.name) ?? draftOf(field, startOf(field));
  const isAnswered = (name: string) => answered.to === errors && answered.fields.has(name);
  const errorOf = (name: string) =>
    found.get(name) ?? (isAnswered(name) ? undefined : own(errors, name)?.toString());

  function change(field: FieldSpec, value: Draft) {
    onTyped(new Map(typed).set(field.name, value));
    setFound((before) => new Map([...before].filter(([name]) => name !== field.name)));
    setAnswered((before) => ({
      to: errors,
      fields: new Set([...(before.to === errors ? before.fields : []), field.name]),
    }));
  }

  function submit(event: FormEvent) {
    event.preventDefault();
    if (busy) return;
    const readings = fields.map(
      (field) => [field.name, readDraft(field, draft(field), startOf(field))] as const,
    );
    const wrong = readings.flatMap(([name, reading]) =>
      'error' in reading ? [[name, reading.error] as const] : [],
    );
    setFound(new Map(wrong));
    if (wrong.length > 0) {
      // The fields are marked as invalid in the next render.
      requestAnimationFrame(() => focusFirstError(form.current));
      return;
    }
    onSubmit(
      Object.fromEntries(
        readings.flatMap(([name, reading]) => ('value' in reading ? [[name, reading.value]] : [])),
      ),
    );
  }

  const shown = (field: FieldSpec) => (
    <SchemaField
      key={field.name}
      field={field}
      draft={draft(field)}
      error={errorOf(field.name)}
      disabled={busy}
      onChange={(value) => change(field, value)}
    />
  );
  const advanced = fields.filter((field) => field.advanced);
  const wrong = fields.filter((field) => errorOf(field.name)).length;
  const elsewhere = Object.entries(errors ?? {}).filter(
    ([name]) => !fields.some((field) => field.name === name),
  );

  return (
    <form ref={form} noValidate onSubmit={submit} aria-describedby={summary} className="flex flex-col gap-5">
      {fields.length === 0 && <p className="text-sm text-muted">No inputs required.</p>}
      {fields.filter((field) => !field.advanced).map(shown)}
      {advanced.length > 0 && (
        <Fold title="More options" open={advanced.some((field) => errorOf(field.name))}>
          <div className="flex flex-col gap-5 pt-2">{advanced.map(shown)}</div>
        </Fold>
      )}
      <div id={summary} role="alert" className="text-sm text-bad empty:hidden">
        {elsewhere.map(([name, error]) => (
          <p key={name} className="break-words">
            {name}: {error}
          </p>
        ))}
        {wrong > 0 && (
          <p>{wrong === 1 ? 'Check the highlighted field.' : `Check the ${wrong} highlighted fields.`}</p>
        )}
      </div>
      <div className="flex flex-wrap items-center gap-x-6 gap-y-3">
        <Button type="submit" kind="primary" busy={busy}>
          {submitLabel}
        </Button>
        {children}
      </div>
    </form>
  );
}

const NOTHING = { to: undefined, fields: new Set<string>() };

function own<T>(record: Record<string, T> | undefined, name: string): T | undefined {
  return record && Object.hasOwn(record, name) ? record[name] : undefined;
}

function focusFirstError(form: HTMLFormElement | null) {
  const first = form?.querySelector('[aria-invalid="true"]');
  const control = first?.matches('input, textarea, select')
    ? first
    : first?.querySelector('input, textarea, select, button');
  if (control instanceof HTMLElement) control.focus();
}
