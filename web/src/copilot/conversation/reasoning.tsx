import { ChevronRight } from 'lucide-react';
import { memo } from 'react';
import { Markdown } from '@/ui/markdown';

/** What the model thought. Folded; its heading says when it is still thinking. */
export const Reasoning = memo(function Reasoning({ text, streaming }: { text: string; streaming: boolean }) {
  return (
    <details className="group/thought">
      <summary className="inline-flex min-h-10 list-none items-center gap-1.5 rounded-lg pr-2 text-sm text-muted hover:text-ink sm:min-h-8 [&::-webkit-details-marker]:hidden">
        <ChevronRight
          aria-hidden
          className="size-4 shrink-0 transition-transform group-open/thought:rotate-90"
        />
        {streaming ? 'Thinking' : 'Thoughts'}
        {/* The words themselves stay readable at every moment. */}
        {streaming && <span aria-hidden className="size-1.5 animate-pulse rounded-full bg-accent" />}
      </summary>
      <div className="ml-2 border-l-2 border-line pl-4 text-sm text-muted">
        <Markdown text={text} streaming={streaming} />
      </div>
    </details>
  );
});
