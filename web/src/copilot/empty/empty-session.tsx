import { OfflineNote } from './offline-note';
import { Suggestions } from './suggestions';

/** The start page of a new chat: a greeting, suggestions, and a note when no model is connected. */
export function EmptySession({ onPick }: { onPick: (text: string) => void }) {
  return (
    <div className="mx-auto flex min-h-full w-full max-w-3xl flex-col justify-center gap-8 px-4 py-8 sm:py-12">
      <header className="flex flex-col gap-2">
        <img src="./icon.svg" alt="" className="mb-2 size-12" />
        <h1 className="text-2xl font-semibold tracking-tight text-balance sm:text-3xl">
          {greeting(new Date().getHours())}
        </h1>
        <p className="text-muted">What can I help you with?</p>
      </header>
      <Suggestions onPick={onPick} />
      <OfflineNote />
    </div>
  );
}

export function greeting(hour: number): string {
  if (hour < 5) return 'Good evening';
  if (hour < 12) return 'Good morning';
  return hour < 18 ? 'Good afternoon' : 'Good evening';
}
