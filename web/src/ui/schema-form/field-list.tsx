import type { FieldSpec } from './schema';

/** Names and descriptions of fields, without controls. */
export function FieldList({ fields }: { fields: FieldSpec[] }) {
  return (
    <dl className="flex flex-col gap-3 text-sm">
      {fields.map((field) => (
        <div key={field.name}>
          <dt className="font-medium break-words">{field.label}</dt>
          {field.description && <dd className="break-words text-muted">{field.description}</dd>}
        </div>
      ))}
    </dl>
  );
}
