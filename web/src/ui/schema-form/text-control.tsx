import { Eye, EyeOff } from 'lucide-react';
import { useState } from 'react';
import { IconButton } from '../buttons/button';
import { Field, Input, TextArea } from '../form/field';
import type { ControlProps } from './control-props';
import { fitsPicker } from './draft';
import { FileControl } from './file-control';
import type { TextFormat } from './schema';

const TYPES: Partial<Record<TextFormat, string>> = {
  date: 'date',
  time: 'time',
  'date-time': 'datetime-local',
  email: 'email',
  url: 'url',
};

/** A text field: one line, several lines, a date, a file, or a secret. */
export function TextControl({ field, draft, error, disabled, onChange }: ControlProps<string>) {
  const [visible, setVisible] = useState(false);
  const { kind } = field;
  if (kind.is !== 'text') return null;
  const { format } = kind;
  const hasPicker = format === 'date' || format === 'time' || format === 'date-time';
  const type = hasPicker && !fitsPicker(format, draft) ? 'text' : TYPES[format];
  return (
    <Field label={field.label} hint={field.description} error={error} required={field.required}>
      {(control) => {
        const shared = {
          ...control,
          placeholder: field.placeholder,
          value: draft,
          disabled,
        };
        if (format === 'file') return <FileControl {...shared} onChange={onChange} />;
        if (kind.long) {
          return (
            <TextArea
              {...shared}
              className="field-sizing-content max-h-96 min-h-24"
              onChange={(event) => onChange(event.target.value)}
            />
          );
        }
        if (format !== 'secret') {
          return <Input {...shared} type={type} onChange={(event) => onChange(event.target.value)} />;
        }
        return (
          <div className="flex items-center gap-2">
            <Input
              {...shared}
              type={visible ? 'text' : 'password'}
              autoComplete="new-password"
              onChange={(event) => onChange(event.target.value)}
            />
            <IconButton
              label={visible ? 'Hide value' : 'Show value'}
              aria-pressed={visible}
              onClick={() => setVisible(!visible)}
            >
              {visible ? <EyeOff className="size-4" /> : <Eye className="size-4" />}
            </IconButton>
          </div>
        );
      }}
    </Field>
  );
}
