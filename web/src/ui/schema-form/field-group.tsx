import { type ReactNode, useId } from 'react';
import { classes } from '../classes';

type Props = {
  label: string;
  hint?: string;
  error?: string;
  required?: boolean;
  children: ReactNode;
};

/** Several controls that form one field, with a hint or an error. */
export function FieldGroup({ label, hint, error, required, children }: Props) {
  const note = useId();
  return (
    <fieldset
      aria-describedby={hint || error ? note : undefined}
      aria-invalid={error ? true : undefined}
      className="flex min-w-0 flex-col gap-1.5"
    >
      <legend className="mb-1.5 text-sm font-medium">
        {label}
        {required && <span className="text-bad"> *</span>}
      </legend>
      {children}
      {(error || hint) && (
        <p id={note} className={classes('text-xs', error ? 'text-bad' : 'text-muted')}>
          {error ?? hint}
        </p>
      )}
    </fieldset>
  );
}
