import { CONTROL } from '../form/field';
import { asText, type Row } from './draft';
import { AddRow, RemoveRow } from './row-buttons';

type Props = {
  columns: string[];
  label: string;
  rows: Row[];
  disabled?: boolean;
  onChange: (rows: Row[]) => void;
};

/** A table of text with named columns. It scrolls horizontally when it is wider than the page. */
export function TableControl({ columns, label, rows, disabled, onChange }: Props) {
  const blank = Object.fromEntries(columns.map((column) => [column, '']));
  return (
    <div className="flex flex-col gap-2">
      {rows.length > 0 && (
        <section
          aria-label={label}
          tabIndex={0}
          className="relative overflow-x-auto rounded-lg border border-line"
        >
          <table className="w-full min-w-max text-sm">
            <thead className="bg-sunken text-left text-xs text-muted">
              <tr>
                {columns.map((column) => (
                  <th key={column} scope="col" className="px-3 py-2 font-medium">
                    {column}
                  </th>
                ))}
                <th className="w-10">
                  <span className="sr-only">Remove</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place.
                <tr key={index} className="border-t border-line">
                  {columns.map((column) => (
                    <td key={column} className="p-1">
                      <input
                        aria-label={`${column}, row ${index + 1}`}
                        size={10}
                        className={`${CONTROL} border-transparent`}
                        value={asText(row[column])}
                        disabled={disabled}
                        onChange={(event) =>
                          onChange(rows.with(index, { ...row, [column]: event.target.value }))
                        }
                      />
                    </td>
                  ))}
                  <td className="p-1">
                    <RemoveRow
                      label={`Remove row ${index + 1}`}
                      disabled={disabled}
                      onClick={() => onChange(rows.toSpliced(index, 1))}
                    />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      <AddRow label="Add row" disabled={disabled} onClick={() => onChange([...rows, blank])} />
    </div>
  );
}
