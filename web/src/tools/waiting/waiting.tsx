import { Gamepad2, WifiOff } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { Button } from '@/ui/button';
import { Skeleton } from '@/ui/states';
import { elapsedWords, useElapsed } from '../use-elapsed';
import { ProgressLine } from './progress-line';

// Most people never play: the game comes when somebody wants to.
const VoyageGame = lazy(() =>
  import('./voyage/voyage-game').then((module) => ({ default: module.VoyageGame })),
);

type Props = {
  label: string;
  /** When it began, where that is known. */
  since?: number;
  /** The server does not answer; the work goes on all the same. */
  unreachable?: boolean;
};

/** Something takes its time: how long already, how far about, and something to do meanwhile. */
export function Waiting({ label, since, unreachable }: Props) {
  const elapsed = useElapsed(true, since);
  const [playing, setPlaying] = useState(false);
  return (
    <div className="flex flex-col gap-2">
      <p className="flex flex-wrap items-baseline justify-between gap-x-3">
        <span className="min-w-0 break-words">
          <span className="font-medium">{label}</span>{' '}
          <span className="text-muted">
            is under way. The conversation goes on by itself when it is done.
          </span>
        </span>
        <span className="text-xs text-muted tabular-nums">{elapsedWords(elapsed)}</span>
      </p>
      <ProgressLine elapsedMs={elapsed} label={`${label} is under way`} />
      {unreachable && (
        <p role="status" className="flex items-center gap-1.5 text-xs text-warn">
          <WifiOff aria-hidden className="size-3.5" />
          The server does not answer. The work goes on, and this page keeps asking.
        </p>
      )}
      {playing ? (
        <Suspense fallback={<Skeleton className="h-44" />}>
          <VoyageGame onClose={() => setPlaying(false)} />
        </Suspense>
      ) : (
        <div>
          <Button
            kind="quiet"
            size="small"
            icon={<Gamepad2 aria-hidden className="size-4" />}
            onClick={() => setPlaying(true)}
          >
            Play while you wait
          </Button>
        </div>
      )}
    </div>
  );
}
