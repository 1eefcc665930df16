import type { ReactNode } from 'react';
import type { OpenWork, OpsOverview } from '@/protocol';
import { count, duration } from '@/ui/format';
import { type Sample, UNKNOWN } from './overview';
import { Sparkline } from './sparkline';

/** How much there is, at a glance, and how it was in the last minutes. */
export function Tiles({ overview, samples }: { overview: OpsOverview; samples: Sample[] }) {
  const lag = overview.queue.outbox_lag_seconds;
  return (
    <div className="grid grid-cols-2 gap-3 lg:grid-cols-4">
      <Tile title="Turns at work" value={overview.turns.running} values={samples.map(({ turns }) => turns)}>
        {waitingWords(overview.turns)}
      </Tile>
      <Tile
        title="Runs at work"
        value={overview.executions.running}
        values={samples.map(({ executions }) => executions)}
      >
        {waitingWords(overview.executions)}
      </Tile>
      <Tile title="In the queue" value={overview.queue.depth} values={samples.map(({ depth }) => depth)}>
        {lag == null ? UNKNOWN : lag > 0 ? `outbox ${duration(lag * 1000)} behind` : 'outbox is up to date'}
      </Tile>
      <Tile title="Open streams" value={overview.streams.open} values={samples.map(({ streams }) => streams)}>
        pages and programs that follow
      </Tile>
    </div>
  );
}

type TileProps = {
  title: string;
  value: number | null | undefined;
  values: (number | null)[];
  children: ReactNode;
};

function Tile({ title, value, values, children }: TileProps) {
  return (
    <section className="flex min-w-0 flex-col rounded-2xl border border-line bg-surface px-4 pt-3 pb-2">
      <h2 className="text-sm text-muted">{title}</h2>
      <p className="text-3xl font-semibold tabular-nums">{value == null ? '–' : count(value)}</p>
      <p className="mb-2 min-h-8 text-xs text-muted lg:min-h-0">{children}</p>
      <div className="mt-auto">
        <Sparkline values={values} />
      </div>
    </section>
  );
}

function waitingWords({ queued, oldest_queued_seconds: oldest }: OpenWork): string {
  if (queued == null) return UNKNOWN;
  if (queued === 0) return 'none waiting';
  return `${count(queued)} waiting${oldest ? `, the oldest ${duration(oldest * 1000)}` : ''}`;
}
