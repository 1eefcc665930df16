import type { ReactNode } from 'react';
import { Panel } from '@/ui/page/page';
import { UNAVAILABLE } from './overview';

export type Column<T> = { title: string; show: (row: T) => ReactNode };

type Props<T> = {
  title: string;
  empty: string;
  /** Null if they are unavailable. */
  rows: T[] | null | undefined;
  keyOf: (row: T) => string;
  /** The first column identifies the row. */
  columns: Column<T>[];
};

/** Unfinished jobs: a table on wide screens, cards on narrow ones. */
export function JobTable<T>({ title, empty, rows, keyOf, columns }: Props<T>) {
  const [name, ...rest] = columns;
  return (
    <Panel title={title}>
      {!rows && <p className="text-sm text-muted">{UNAVAILABLE}</p>}
      {rows?.length === 0 && <p className="text-sm text-muted">{empty}</p>}
      {rows && rows.length > 0 && (
        <>
          <table className="hidden w-full text-sm md:table">
            <thead className="text-left text-xs text-muted">
              <tr>
                {columns.map(({ title }) => (
                  <th key={title} scope="col" className="py-1.5 pr-4 font-medium">
                    {title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody className="divide-y divide-line">
              {rows.map((row) => (
                <tr key={keyOf(row)}>
                  {columns.map(({ title, show }) => (
                    <td key={title} className="max-w-64 truncate py-2 pr-4 tabular-nums">
                      {show(row)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
          <ul className="flex flex-col gap-3 md:hidden">
            {rows.map((row) => (
              <li key={keyOf(row)} className="rounded-xl border border-line p-3 text-sm">
                <div className="truncate font-medium">{name?.show(row)}</div>
                <dl className="mt-2 grid grid-cols-2 gap-x-4 gap-y-1.5">
                  {rest.map(({ title, show }) => (
                    <div key={title} className="min-w-0">
                      <dt className="text-xs text-muted">{title}</dt>
                      <dd className="truncate tabular-nums">{show(row)}</dd>
                    </div>
                  ))}
                </dl>
              </li>
            ))}
          </ul>
        </>
      )}
    </Panel>
  );
}
