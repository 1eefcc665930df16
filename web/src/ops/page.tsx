import { useAbout } from '@/api/about';
import { credential } from '@/api/identity';
import { errorMessage } from '@/api/problem';
import { readToken } from '@/api/token';
import { useNow } from '@/lib/use-now';
import { Button } from '@/ui/buttons/button';
import { classes } from '@/ui/classes';
import { Page } from '@/ui/page/page';
import { Failure, Loading } from '@/ui/page/states';
import { ActiveJobs } from './active-jobs';
import { setInternalKey, useInternalKey } from './internal-key';
import { KeyForm } from './key-form';
import { needsInternalKey, useOverview, useSamples } from './overview';
import { SystemStatus } from './system-status';
import { Tiles } from './tiles';

/** Live overview of the server for operators. */
export function OpsPage() {
  const key = useInternalKey();
  const { data: overview, error, isPending, isError, dataUpdatedAt, refetch } = useOverview();
  const samples = useSamples(overview, dataUpdatedAt);
  const now = useNow();
  const isMine = useIsMine();

  if (needsInternalKey(error))
    return (
      <Page title="Operations">
        <KeyForm wasRejected={key !== null} />
      </Page>
    );

  return (
    <Page
      wide
      title="Operations"
      subtitle={<Freshness at={dataUpdatedAt} isStale={isError && overview !== undefined} reason={error} />}
      actions={key && <Button onClick={() => setInternalKey(null)}>Clear key</Button>}
    >
      {isPending && <Loading label="Loading server status" rows={3} height="h-32" />}
      {isError && !overview && <Failure error={error} onRetry={() => refetch()} />}
      {overview && (
        <div className={classes('flex flex-col gap-4', isError && 'opacity-80 grayscale')}>
          <Tiles overview={overview} samples={samples} />
          {/* While the server is unreachable, ages do not advance. */}
          <ActiveJobs
            overview={overview}
            sinceMs={isError ? 0 : Math.max(0, now - dataUpdatedAt)}
            isMine={isMine}
          />
          <SystemStatus overview={overview} now={isError ? dataUpdatedAt : now} />
        </div>
      )}
    </Page>
  );
}

/** Update interval, or the error and the time of the last update. */
function Freshness({ at, isStale, reason }: { at: number; isStale: boolean; reason: unknown }) {
  return (
    <p role="status">
      {isStale ? (
        <span className="text-bad">
          {errorMessage(reason)} Last updated at {clock.format(at)}.
        </span>
      ) : (
        'Updates every 2 seconds. Charts show the last 5 minutes.'
      )}
    </p>
  );
}

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

/** On a server without sign-in everything belongs to the user; otherwise the token identifies them. */
function useIsMine(): (userId: string | null | undefined) => boolean {
  const { data: about } = useAbout();
  const token = credential();
  const me = token?.kind === 'token' ? readToken(token.value).subject : null;
  return (userId) => about?.auth_mode === 'local' || (me !== null && userId === me);
}
