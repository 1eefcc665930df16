import { type ComponentProps, type ReactNode, type SelectHTMLAttributes, useId } from 'react';
import { classes } from '../classes';

/** The look of every text control. */
export const CONTROL =
  'w-full rounded-lg border border-line-strong/60 bg-surface px-3 py-2 text-base text-ink placeholder:text-muted sm:text-sm aria-invalid:border-bad disabled:opacity-60';

type FieldProps = {
  label: string;
  hint?: ReactNode;
  error?: string | null;
  required?: boolean;
  children: (control: {
    id: string;
    'aria-describedby'?: string;
    'aria-invalid'?: boolean;
    required?: boolean;
  }) => ReactNode;
};

/** A label, a control, and a hint or an error. */
export function Field({ label, hint, error, required, children }: FieldProps) {
  const id = useId();
  const note = `${id}-note`;
  return (
    <div className="flex flex-col gap-1.5">
      <label htmlFor={id} className="text-sm font-medium">
        {label}
        {required && <span className="text-bad"> *</span>}
      </label>
      {children({
        id,
        'aria-describedby': hint || error ? note : undefined,
        'aria-invalid': error ? true : undefined,
        required,
      })}
      {(error || hint) && (
        <p id={note} className={classes('text-xs', error ? 'text-bad' : 'text-muted')}>
          {error ?? hint}
        </p>
      )}
    </div>
  );
}

export function Input({ className, ...rest }: ComponentProps<'input'>) {
  return <input {...rest} className={classes(CONTROL, className)} />;
}

export function TextArea({ className, ...rest }: ComponentProps<'textarea'>) {
  return <textarea {...rest} className={classes(CONTROL, 'min-h-24', className)} />;
}

export function Select({ className, ...rest }: SelectHTMLAttributes<HTMLSelectElement>) {
  return <select {...rest} className={classes(CONTROL, 'pr-8', className)} />;
}
