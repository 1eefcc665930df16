// The control of one field, by its kind.

import { Field, Input, Select, TextArea } from '../form/field';
import { Switch } from '../form/switch';
import type { ControlProps } from './control-props';
import type { Row } from './draft';
import { FieldGroup } from './field-group';
import { ListControl } from './list-control';
import { TableControl } from './table-control';
import { TextControl } from './text-control';

export function SchemaField({ field, draft, error, disabled, onChange }: ControlProps) {
  const { kind } = field;
  const about = { label: field.label, hint: field.description, error, required: field.required };
  switch (kind.is) {
    case 'boolean':
      return (
        <Toggle field={field} draft={draft === true} error={error} disabled={disabled} onChange={onChange} />
      );
    case 'choice':
      return (
        <Field {...about}>
          {(control) => (
            <Select
              {...control}
              value={String(draft)}
              disabled={disabled}
              onChange={(event) => onChange(event.target.value)}
            >
              {(!field.required || draft === '') && (
                <option value="">{field.required ? 'Choose an option' : 'None'}</option>
              )}
              {kind.choices.map((choice, index) => (
                <option key={choice.label} value={index}>
                  {choice.label}
                </option>
              ))}
            </Select>
          )}
        </Field>
      );
    case 'choices': {
      const chosen = new Set(draft as string[]);
      return (
        <FieldGroup {...about}>
          {kind.choices.map((choice, index) => (
            <label key={choice.label} className="flex min-h-8 items-center gap-2 text-sm">
              <input
                type="checkbox"
                className="size-4 accent-accent"
                disabled={disabled}
                checked={chosen.has(String(index))}
                onChange={(event) => onChange(toggled(chosen, String(index), event.target.checked))}
              />
              <span className="min-w-0 break-words">{choice.label}</span>
            </label>
          ))}
        </FieldGroup>
      );
    }
    case 'list':
      return (
        <FieldGroup {...about}>
          <ListControl
            of={kind.of}
            label={field.label}
            entries={draft as string[]}
            disabled={disabled}
            onChange={onChange}
          />
        </FieldGroup>
      );
    case 'table':
      return (
        <FieldGroup {...about}>
          <TableControl
            columns={kind.columns}
            label={field.label}
            rows={draft as Row[]}
            disabled={disabled}
            onChange={onChange}
          />
        </FieldGroup>
      );
    case 'text':
      return (
        <TextControl
          field={field}
          draft={String(draft)}
          error={error}
          disabled={disabled}
          onChange={onChange}
        />
      );
    case 'number':
      return (
        <Field {...about} hint={withLimits(field.description, kind.minimum, kind.maximum)}>
          {(control) => (
            // Not type="number": it discards invalid input, and changes its value when the mouse wheel is used over it.
            <Input
              {...control}
              inputMode={kind.integer ? 'numeric' : 'decimal'}
              autoComplete="off"
              placeholder={field.placeholder}
              value={String(draft)}
              disabled={disabled}
              onChange={(event) => onChange(event.target.value)}
            />
          )}
        </Field>
      );
    default:
      return (
        <Field {...about} hint={field.description ?? HINTS[kind.is]}>
          {(control) => (
            <TextArea
              {...control}
              spellCheck={kind.is === 'anything'}
              placeholder={field.placeholder}
              className={
                kind.is === 'json' ? 'min-h-24 font-mono text-sm' : 'field-sizing-content max-h-96 min-h-10!'
              }
              value={String(draft)}
              disabled={disabled}
              onChange={(event) => onChange(event.target.value)}
            />
          )}
        </Field>
      );
  }
}

const HINTS = { json: 'Enter JSON.', anything: 'Enter text, or JSON in brackets.' };

function Toggle({ field, draft, error, disabled, onChange }: ControlProps<boolean>) {
  return (
    <Field label={field.label} hint={field.description} error={error}>
      {({ required, ...control }) => (
        <Switch
          {...control}
          checked={draft}
          disabled={disabled}
          onChange={(event) => onChange(event.target.checked)}
        />
      )}
    </Field>
  );
}

function toggled(chosen: Set<string>, index: string, on: boolean): string[] {
  const others = [...chosen].filter((one) => one !== index);
  return (on ? [...others, index] : others).sort((a, b) => Number(a) - Number(b));
}

function withLimits(description?: string, minimum?: number, maximum?: number): string | undefined {
  const limits =
    minimum !== undefined && maximum !== undefined
      ? `Between ${minimum} and ${maximum}.`
      : minimum !== undefined
        ? `At least ${minimum}.`
        : maximum !== undefined
          ? `At most ${maximum}.`
          : undefined;
  return [description, limits].filter(Boolean).join(' ') || undefined;
}
