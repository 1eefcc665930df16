import { Check } from 'lucide-react';
import { classes } from '@/ui/classes';
import { type BuildingProgress, STAGES, type Stage } from './building-stages';

const ORDER = Object.keys(STAGES) as Stage[];

/** The stages of making an agent: those that are done, the current one, and what comes next. */
export function StageList({ progress }: { progress: BuildingProgress | null }) {
  const current = progress ? ORDER.indexOf(progress.stage) : -1;
  return (
    <div className="flex flex-col gap-1.5">
      <ol className="flex flex-wrap gap-x-3 gap-y-1 text-xs">
        {ORDER.map((stage, index) => (
          <li
            key={stage}
            aria-current={index === current ? 'step' : undefined}
            className={classes(
              'flex items-center gap-1',
              index === current ? 'font-medium text-accent' : 'text-muted',
            )}
          >
            {index < current ? (
              <Check aria-hidden className="size-3.5 text-good" />
            ) : (
              <span
                aria-hidden
                className={classes(
                  'mx-1 size-1.5 rounded-full',
                  index === current ? 'animate-pulse bg-accent' : 'bg-line-strong',
                )}
              />
            )}
            {STAGES[stage]}
            {index < current && <span className="sr-only"> (done)</span>}
          </li>
        ))}
      </ol>
      {/* The height is reserved, so that nothing below moves. */}
      <p role="status" className="h-4 truncate text-xs text-muted">
        {progress && [progress.label, progress.detail].filter(Boolean).join(': ')}
      </p>
    </div>
  );
}
