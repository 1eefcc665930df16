import { useAbout } from '@/api/about';
import { credential } from '@/api/identity';
import { wordsOf } from '@/api/problem';
import { readToken } from '@/api/token';
import { Button } from '@/ui/button';
import { classes } from '@/ui/classes';
import { Page } from '@/ui/page';
import { Failure, Loading } from '@/ui/states';
import { setInternalKey, useInternalKey } from './internal-key';
import { KeyForm } from './key-form';
import { LiveWork } from './live-work';
import { Machinery } from './machinery';
import { useNow, useOverview, useSamples, wantsKey } from './overview';
import { Tiles } from './tiles';

/** What the server is doing right now, for those who run it. */
export function OpsPage() {
  const key = useInternalKey();
  const { data: overview, error, isPending, isError, dataUpdatedAt, refetch } = useOverview();
  const samples = useSamples(overview, dataUpdatedAt);
  const now = useNow();
  const isMine = useIsMine();

  if (wantsKey(error))
    return (
      <Page title="Operations">
        <KeyForm wasRefused={key !== null} />
      </Page>
    );

  return (
    <Page
      wide
      title="Operations"
      subtitle={<Freshness at={dataUpdatedAt} away={isError && overview !== undefined} reason={error} />}
      actions={key && <Button onClick={() => setInternalKey(null)}>Forget the key</Button>}
    >
      {isPending && <Loading label="Loading the state of the server" rows={3} height="h-32" />}
      {isError && !overview && <Failure error={error} onRetry={() => refetch()} />}
      {overview && (
        <div className={classes('flex flex-col gap-4', isError && 'opacity-80 grayscale')}>
          <Tiles overview={overview} samples={samples} />
          {/* What the server does while it is away is not known, so ages stand still then. */}
          <LiveWork
            overview={overview}
            sinceMs={isError ? 0 : Math.max(0, now - dataUpdatedAt)}
            isMine={isMine}
          />
          <Machinery overview={overview} now={isError ? dataUpdatedAt : now} />
        </div>
      )}
    </Page>
  );
}

/** Says when the server has gone away, and since when. */
function Freshness({ at, away, reason }: { at: number; away: boolean; reason: unknown }) {
  return (
    <p role="status">
      {away ? (
        <span className="text-bad">
          {wordsOf(reason)} These are the values of {clock.format(at)}.
        </span>
      ) : (
        'Live, every two seconds. The lines show the last five minutes.'
      )}
    </p>
  );
}

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

/** On a server without a login everything is one's own; on others a token says who one is. */
function useIsMine(): (userId: string | null | undefined) => boolean {
  const { data: about } = useAbout();
  const token = credential();
  const me = token?.kind === 'token' ? readToken(token.value).subject : null;
  return (userId) => about?.auth_mode === 'local' || (me !== null && userId === me);
}
