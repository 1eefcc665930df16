// What is shown while an operation runs.

import { lazy, Suspense, useState } from 'react';
import { progressOfOutput, STAGES } from '@/tools/waiting/building-stages';
import { ProgressLine } from '@/tools/waiting/progress-line';
import { StageList } from '@/tools/waiting/stage-list';
import { Waiting } from '@/tools/waiting/waiting';
import { Button } from '@/ui/buttons/button';
import { Skeleton } from '@/ui/page/states';
import { Entry, Specimen } from './specimen';

const VoyageGame = lazy(() =>
  import('@/tools/waiting/voyage/voyage-game').then((module) => ({ default: module.VoyageGame })),
);

export function WaitingStates() {
  const [since] = useState(() => Date.now() - 20_000);
  const [playing, setPlaying] = useState(false);
  return (
    <>
      <Entry title="Operation">
        <Specimen title="Running">
          <Waiting label="Print chart" since={since} />
        </Specimen>
        <Specimen title="Running, server unreachable">
          <Waiting label="Print chart" since={since} unreachable />
        </Specimen>
      </Entry>
      <Entry title="Stages of building an agent">
        <Specimen title="Not started">
          <StageList progress={null} />
        </Specimen>
        {[...Object.keys(STAGES), 'repairing'].map((stage) => (
          <Specimen key={stage} title={stage}>
            <StageList progress={progressOfOutput({ type: 'agent_progress', stage, round: 2 })} />
          </Specimen>
        ))}
      </Entry>
      <Entry title="Progress">
        {[0, 10, 30, 60, 300].map((seconds) => (
          <Specimen key={seconds} title={`After ${seconds} s`}>
            <ProgressLine elapsedMs={seconds * 1000} label={`After ${seconds} seconds`} />
          </Specimen>
        ))}
      </Entry>
      <Entry title="Game">
        <Specimen title="Keyboard, mouse or touch">
          {playing ? (
            <Suspense fallback={<Skeleton className="h-44" />}>
              <VoyageGame onClose={() => setPlaying(false)} />
            </Suspense>
          ) : (
            <Button onClick={() => setPlaying(true)}>Play</Button>
          )}
        </Specimen>
      </Entry>
    </>
  );
}
