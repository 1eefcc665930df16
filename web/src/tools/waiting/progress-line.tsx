import { Sailboat } from 'lucide-react';
import { progressAfter } from './progress';

/** Progress bar with a boat. It never reaches the end by itself; the result replaces it. */
export function ProgressLine({ elapsedMs, label }: { elapsedMs: number; label: string }) {
  const percent = Math.floor(progressAfter(elapsedMs) * 100);
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent}
      aria-valuetext={`About ${percent} percent`}
      className="relative h-8"
    >
      <div className="absolute inset-x-0 bottom-1 h-1.5 overflow-hidden rounded-full bg-sunken">
        <div
          className="h-full rounded-full bg-accent transition-[width] duration-1000 ease-linear"
          style={{ width: `${percent}%` }}
        />
      </div>
      <div
        aria-hidden
        className="absolute bottom-2 transition-[left] duration-1000 ease-linear"
        style={{ left: `calc(${percent}% - ${(percent / 100) * 1.25}rem)` }}
      >
        <Sailboat className="size-5 animate-bob text-accent" />
      </div>
    </div>
  );
}
