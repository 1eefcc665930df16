import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, dataOf } from '@/api/client';
import type { TransactionKind } from '@/protocol';
import { Button } from '@/ui/buttons/button';
import { classes } from '@/ui/classes';
import { Failure, Loading } from '@/ui/page/states';
import { count, when } from '@/ui/text/format';
import { Section } from './section';

const PAGE = 10;

const KINDS: Record<TransactionKind, string> = {
  TOP_UP: 'Purchase',
  USAGE: 'Usage',
  GRANT: 'Grant',
  REFUND: 'Refund',
};

/** Credit balance and transactions. Shown only if credits are enabled. */
export function Credits() {
  const balance = useQuery({ queryKey: ['credits'], queryFn: () => dataOf(api.GET('/api/credits')) });
  return (
    <Section id="credits" title="Credits" hint="Running agents and blocks costs credits on this server.">
      {balance.isError && <Failure error={balance.error} onRetry={() => balance.refetch()} />}
      {balance.isPending && <Loading label="Loading credits" rows={1} />}
      {balance.data && (
        <p className="text-3xl font-semibold tabular-nums">
          {count(balance.data.credits)} <span className="text-sm font-normal text-muted">credits left</span>
        </p>
      )}
      <Ledger />
    </Section>
  );
}

function Ledger() {
  const [page, setPage] = useState(0);
  const ledger = useQuery({
    queryKey: ['credits', 'transactions', page],
    // Requests one more than is shown, to know whether there are older ones.
    queryFn: () =>
      dataOf(
        api.GET('/api/credits/transactions', { params: { query: { limit: PAGE + 1, offset: page * PAGE } } }),
      ),
    placeholderData: keepPreviousData,
  });
  if (ledger.isPending) return <Loading label="Loading transactions" height="h-10" />;
  if (ledger.isError && !ledger.data)
    return <Failure error={ledger.error} onRetry={() => ledger.refetch()} />;
  const rows = ledger.data.transactions.slice(0, PAGE);
  const hasOlder = ledger.data.transactions.length > PAGE;
  if (rows.length === 0) return <p className="text-sm text-muted">No transactions yet.</p>;
  return (
    <>
      <table aria-label="Transactions" className="w-full text-sm">
        <thead className="text-left text-xs text-muted">
          <tr>
            <th className="hidden py-1.5 pr-4 font-medium sm:table-cell">Date</th>
            <th className="py-1.5 pr-4 font-medium">Description</th>
            <th className="py-1.5 text-right font-medium">Credits</th>
            <th className="hidden py-1.5 pl-4 text-right font-medium sm:table-cell">Balance</th>
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {rows.map((row) => (
            <tr key={row.transaction_key}>
              <td className="hidden py-2 pr-4 whitespace-nowrap text-muted sm:table-cell">
                {when(row.transaction_time)}
              </td>
              <td className="py-2 pr-4 break-words">
                {row.description || KINDS[row.transaction_type]}
                <span className="block text-xs text-muted sm:hidden">{when(row.transaction_time)}</span>
              </td>
              <td className={classes('py-2 text-right tabular-nums', row.amount > 0 && 'text-good')}>
                {row.amount > 0 ? `+${count(row.amount)}` : count(row.amount)}
              </td>
              <td className="hidden py-2 pl-4 text-right text-muted tabular-nums sm:table-cell">
                {count(row.running_balance)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {(page > 0 || hasOlder) && (
        <nav aria-label="Transaction pages" className="flex items-center gap-3 text-sm">
          <Button size="small" disabled={page === 0} onClick={() => setPage(page - 1)}>
            Newer
          </Button>
          <span aria-live="polite">Page {page + 1}</span>
          <Button size="small" disabled={!hasOlder} onClick={() => setPage(page + 1)}>
            Older
          </Button>
        </nav>
      )}
    </>
  );
}
