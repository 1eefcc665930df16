import { useQuery } from '@tanstack/react-query';
import { api, dataOf } from '@/api/client';
import type { UsageLimit, UsageReport, UsageTotals } from '@/protocol';
import { Failure, Loading } from '@/ui/page/states';
import { count, dollars, when } from '@/ui/text/format';
import { Section } from './section';
import { UsageChart } from './usage-chart';

/** Usage totals, limits and a chart. */
export function Usage() {
  const usage = useQuery({ queryKey: ['usage'], queryFn: () => dataOf(api.GET('/api/chat/usage')) });
  return (
    <Section id="usage" title="Usage" hint="Responses in your chats, including sub-sessions.">
      {usage.isPending && <Loading label="Loading usage" rows={2} height="h-28" />}
      {usage.isError && <Failure error={usage.error} onRetry={() => usage.refetch()} />}
      {usage.data && <UsageDetails usage={usage.data} />}
    </Section>
  );
}

function UsageDetails({ usage }: { usage: UsageReport }) {
  return (
    <>
      <div className="grid gap-3 sm:grid-cols-3">
        <Totals title="Today" totals={usage.today} />
        <Totals title="Last 7 days" totals={usage.week} />
        <Totals title="All time" totals={usage.all_time} />
      </div>
      {usage.daily && <Limit title="Daily limit" limit={usage.daily} />}
      {usage.weekly && <Limit title="Weekly limit" limit={usage.weekly} />}
      <UsageChart days={usage.days} />
    </>
  );
}

function Totals({ title, totals }: { title: string; totals: UsageTotals }) {
  const tokens = totals.prompt_tokens + totals.completion_tokens;
  return (
    <div className="rounded-xl bg-sunken px-4 py-3">
      <h3 className="text-xs text-muted">{title}</h3>
      <p className="text-2xl font-semibold tabular-nums">
        {count(totals.turns)}{' '}
        <span className="text-sm font-normal text-muted">
          {totals.turns === 1 ? 'response' : 'responses'}
        </span>
      </p>
      <p className="text-xs text-muted tabular-nums">
        {count(tokens)} tokens
        {totals.cost_microdollars ? ` · ${dollars(totals.cost_microdollars)}` : ''}
      </p>
    </div>
  );
}

function Limit({ title, limit }: { title: string; limit: UsageLimit }) {
  const percent = Math.round(Math.min(Math.max(limit.percent_used, 0), 100));
  const tone = percent >= 90 ? 'bg-bad' : percent >= 75 ? 'bg-warn' : 'bg-accent';
  return (
    <div className="text-sm">
      <p className="mb-1 flex flex-wrap justify-between gap-x-4">
        <span className="font-medium">{title}</span>
        <span className="text-muted">
          {percent}% used · resets {when(limit.resets_at)}
        </span>
      </p>
      <div
        role="progressbar"
        aria-label={title}
        aria-valuenow={percent}
        aria-valuemin={0}
        aria-valuemax={100}
        className="h-2 overflow-hidden rounded-full bg-sunken"
      >
        <div className={`h-full rounded-full ${tone}`} style={{ width: `${percent}%` }} />
      </div>
    </div>
  );
}
