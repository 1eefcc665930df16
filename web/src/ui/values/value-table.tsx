import { asRecord } from '@/lib/json';
import { ScrollBox } from '../page/scroll-box';
import { count } from '../text/format';

export type Table = { columns: string[]; rows: Record<string, unknown>[] };

const MAX_COLUMNS = 8;
const MAX_ROWS = 50;
const MAX_CELL = 200;

/** A list of flat objects as a table; null for any other value. */
export function asTable(value: unknown): Table | null {
  if (!Array.isArray(value) || value.length === 0) return null;
  const rows = value.map(asRecord);
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const flat = rows.every(
    (row) =>
      Object.keys(row).length > 0 &&
      Object.values(row).every((cell) => typeof cell !== 'object' || cell === null),
  );
  return flat && columns.length <= MAX_COLUMNS ? { columns, rows } : null;
}

export function ValueTable({ table: { columns, rows } }: { table: Table }) {
  const shown = rows.slice(0, MAX_ROWS);
  return (
    <ScrollBox label="Table" className="border border-line">
      <table className="w-full border-collapse text-left text-sm">
        <thead className="sticky top-0 bg-sunken text-xs text-muted">
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col" className="px-3 py-2 font-medium whitespace-nowrap">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the order of the rows never changes.
            <tr key={index} className="border-t border-line">
              {columns.map((column) => (
                <td key={column} className="max-w-80 px-3 py-2 align-top break-words">
                  {cellText(row[column])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > shown.length && (
        <p className="px-3 py-2 text-xs text-muted">and {count(rows.length - shown.length)} more rows</p>
      )}
    </ScrollBox>
  );
}

function cellText(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  const text = String(value);
  return text.length > MAX_CELL ? `${text.slice(0, MAX_CELL)}…` : text;
}
