import { Gamepad2, WifiOff } from 'lucide-react';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { Button } from '@/ui/buttons/button';
import { Skeleton } from '@/ui/page/states';
import { elapsedText, useElapsed } from '@/ui/text/use-elapsed';
import { ProgressLine } from './progress-line';

// Loaded on demand, since most people never play.
const VoyageGame = lazy(() =>
  import('./voyage/voyage-game').then((module) => ({ default: module.VoyageGame })),
);

type Props = {
  label: string;
  /** Start time, if known. */
  since?: number;
  /** The server is unreachable; the operation continues anyway. */
  unreachable?: boolean;
  /** What it is doing now, if it says so. */
  stages?: ReactNode;
};

/** A running operation: elapsed time, estimated progress, and a game to play meanwhile. */
export function Waiting({ label, since, unreachable, stages }: Props) {
  const elapsed = useElapsed(true, since);
  const [playing, setPlaying] = useState(false);
  return (
    <div className="flex flex-col gap-2">
      <p className="flex flex-wrap items-baseline justify-between gap-x-3">
        <span className="min-w-0 break-words">
          <span className="font-medium">{label}</span>{' '}
          <span className="text-muted">is running. The chat continues automatically when it finishes.</span>
        </span>
        <span className="text-xs text-muted tabular-nums">{elapsedText(elapsed)}</span>
      </p>
      <ProgressLine elapsedMs={elapsed} label={`${label} is running`} />
      {stages}
      {unreachable && (
        <p role="status" className="flex items-center gap-1.5 text-xs text-warn">
          <WifiOff aria-hidden className="size-3.5" />
          Can't reach the server. The task keeps running; reconnecting…
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
