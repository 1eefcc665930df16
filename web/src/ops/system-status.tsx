import type { OpsOverview, OpsWorker } from '@/protocol';
import { Badge, Dot } from '@/ui/feedback/badge';
import { Panel } from '@/ui/page/page';
import { ago, bytes, duration, when } from '@/ui/text/format';
import { UNAVAILABLE } from './overview';

/** Workers, dependencies, and the server process. */
export function SystemStatus({ overview, now }: { overview: OpsOverview; now: number }) {
  return (
    <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-3">
      <Panel title="Workers">
        {!overview.workers?.length ? (
          <p className="text-sm text-muted">{overview.workers ? 'No workers seen yet.' : UNAVAILABLE}</p>
        ) : (
          <ul className="flex flex-col gap-3">
            {overview.workers.map((worker) => (
              <WorkerRow key={worker.name} worker={worker} now={now} />
            ))}
          </ul>
        )}
      </Panel>
      <Panel title="Dependencies">
        <ul className="flex flex-col gap-2.5 text-sm">
          {overview.dependencies.map(({ name, ok }) => (
            <li key={name} className="flex items-center justify-between gap-3">
              <span className="min-w-0 break-words">{name}</span>
              <Badge tone={ok ? 'good' : 'bad'}>{ok ? 'Healthy' : 'Unreachable'}</Badge>
            </li>
          ))}
        </ul>
      </Panel>
      <Panel title="This process">
        <dl className="flex flex-col gap-2.5 text-sm">
          <Fact name="Version" value={overview.process.version} />
          <Fact name="Uptime" value={duration(overview.process.uptime_seconds * 1000)} />
          {overview.process.memory_bytes != null && (
            <Fact name="Memory" value={bytes(overview.process.memory_bytes)} />
          )}
        </dl>
      </Panel>
    </div>
  );
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div className="flex justify-between gap-3">
      <dt className="text-muted">{name}</dt>
      <dd className="tabular-nums">{value}</dd>
    </div>
  );
}

function WorkerRow({ worker, now }: { worker: OpsWorker; now: number }) {
  const { name, last_seen } = worker;
  const isBusy = Boolean(worker.busy || worker.executions);
  return (
    <li className="text-sm">
      <div className="flex items-center gap-2">
        {worker.busy == null ? (
          <Dot tone="neutral" label="Unknown" />
        ) : (
          <Dot tone={isBusy ? 'accent' : 'good'} label={isBusy ? 'Busy' : 'Idle'} />
        )}
        <span className="min-w-0 flex-1 truncate" title={name}>
          {name}
        </span>
        <span className="text-muted tabular-nums">{workerLoad(worker)}</span>
      </div>
      {last_seen && (
        <p className="pl-4 text-xs text-muted" title={when(last_seen)}>
          last seen {lastSeen(last_seen, now)}
        </p>
      )}
    </li>
  );
}

function lastSeen(time: string, now: number): string {
  // Not in the future, even if the clocks of the server and the browser differ.
  const reference = Math.max(now, Date.parse(time));
  return reference - Date.parse(time) < 1_000 ? 'just now' : ago(time, reference);
}

/** Number of jobs a worker is running. */
function workerLoad({ busy, executions, slots }: OpsWorker): string {
  if (busy == null) return UNAVAILABLE;
  const responses = slots
    ? `${busy} of ${slots} responses`
    : `${busy} ${busy === 1 ? 'response' : 'responses'}`;
  return executions ? `${responses}, ${executions} ${executions === 1 ? 'run' : 'runs'}` : responses;
}
