import { ChevronRight } from 'lucide-react';
import { memo } from 'react';
import { Markdown } from '@/ui/markdown/markdown';

/** The model's reasoning, collapsed. Its heading shows when it is in progress. */
export const Reasoning = memo(function Reasoning({ text, streaming }: { text: string; streaming: boolean }) {
  return (
    <details className="group/reasoning">
      <summary className="inline-flex min-h-10 list-none items-center gap-1.5 rounded-lg pr-2 text-sm text-muted hover:text-ink sm:min-h-8 [&::-webkit-details-marker]:hidden">
        <ChevronRight
          aria-hidden
          className="size-4 shrink-0 transition-transform group-open/reasoning:rotate-90"
        />
        {streaming ? 'Thinking…' : 'Reasoning'}
        {/* The dot pulses instead of the text, which stays readable. */}
        {streaming && <span aria-hidden className="size-1.5 animate-pulse rounded-full bg-accent" />}
      </summary>
      <div className="ml-2 border-l-2 border-line pl-4 text-sm text-muted">
        <Markdown text={text} streaming={streaming} />
      </div>
    </details>
  );
});
