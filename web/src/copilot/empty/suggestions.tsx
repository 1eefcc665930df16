import { useQuery } from '@tanstack/react-query';
import { ArrowUpRight } from 'lucide-react';
import { useState } from 'react';
import { api, dataOf } from '@/api/client';
import type { SuggestedPrompts } from '@/protocol';
import { classes } from '@/ui/classes';
import { Skeleton } from '@/ui/page/states';

/** Suggested prompts by category. They are optional, so a failed request shows nothing. */
export function Suggestions({ onPick }: { onPick: (text: string) => void }) {
  const [chosen, setChosen] = useState<string | null>(null);
  const { data, isPending } = useQuery({
    queryKey: ['suggested-prompts'],
    queryFn: () => dataOf(api.GET('/api/chat/suggested-prompts')),
    staleTime: 5 * 60_000,
  });
  if (isPending) return <LoadingCards />;
  const themes = data?.themes ?? [];
  const theme = themes.find(({ name }) => name === chosen) ?? themes[0];
  if (!theme) return null;
  return (
    <section aria-label="Suggestions" className="flex flex-col gap-3">
      <p className="text-muted">Ask anything, or try one of these.</p>
      <Categories themes={themes} shown={theme.name} onChoose={setChosen} />
      <ul className="grid gap-2 sm:grid-cols-2">
        {theme.prompts.map((prompt) => (
          <li key={prompt}>
            <button
              type="button"
              onClick={() => onPick(prompt)}
              className="group flex h-full min-h-14 w-full items-center gap-3 rounded-xl border border-line bg-surface px-4 py-3 text-left text-sm transition-colors hover:border-accent/50 hover:bg-accent-soft"
            >
              <span
                className={classes(
                  'line-clamp-3 min-w-0 flex-1 wrap-anywhere whitespace-pre-line',
                  prompt.startsWith('/') && 'font-mono text-[0.8125rem]',
                )}
              >
                {prompt}
              </span>
              <ArrowUpRight aria-hidden className="size-4 shrink-0 text-muted group-hover:text-accent" />
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

type CategoriesProps = {
  themes: SuggestedPrompts['themes'];
  shown: string;
  onChoose: (name: string) => void;
};

function Categories({ themes, shown, onChoose }: CategoriesProps) {
  if (themes.length === 1) return <h2 className="text-sm font-medium text-muted">{shown}</h2>;
  return (
    <fieldset className="flex flex-wrap gap-2">
      <legend className="sr-only">Category</legend>
      {themes.map(({ name }) => (
        <button
          key={name}
          type="button"
          aria-pressed={name === shown}
          onClick={() => onChoose(name)}
          className="h-9 rounded-full border border-line px-3.5 text-sm text-muted hover:text-ink aria-pressed:border-accent/40 aria-pressed:bg-accent-soft aria-pressed:text-accent pointer-coarse:h-11"
        >
          {name}
        </button>
      ))}
    </fieldset>
  );
}

function LoadingCards() {
  return (
    <div role="status" className="grid gap-2 pt-8 sm:grid-cols-2">
      <span className="sr-only">Loading suggestions…</span>
      <Skeleton className="h-14" />
      <Skeleton className="h-14" />
      <Skeleton className="h-14" />
      <Skeleton className="h-14" />
    </div>
  );
}
