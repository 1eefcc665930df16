import { Link } from '@tanstack/react-router';
import { Bot } from 'lucide-react';
import type { StoreAgent } from '@/protocol';
import { Badge } from '@/ui/feedback/badge';
import { count } from '@/ui/text/format';
import { humanName } from '@/ui/text/names';

const MAX_CATEGORIES = 3;

/** Card of one marketplace agent. The whole card is a link to it. */
export function ListingCard({ listing }: { listing: StoreAgent }) {
  return (
    <article className="relative flex h-full min-h-40 flex-col gap-2 rounded-2xl border border-line bg-surface p-4 transition hover:border-line-strong has-[a:focus-visible]:outline-2 has-[a:focus-visible]:outline-accent">
      <header className="flex items-start gap-3">
        <span className="flex size-9 shrink-0 items-center justify-center rounded-xl bg-accent-soft text-accent">
          <Bot aria-hidden className="size-5" />
        </span>
        <div className="min-w-0">
          <h3 className="font-semibold break-words">
            <Link
              to="/marketplace/agent/$creator/$slug"
              params={{ creator: listing.creator, slug: listing.slug }}
              className="outline-none after:absolute after:inset-0 after:rounded-2xl"
            >
              {listing.agent_name}
            </Link>
          </h3>
          <p className="truncate text-xs text-muted">by {listing.creator}</p>
        </div>
      </header>
      <p className="line-clamp-3 text-sm break-words text-muted">
        {listing.sub_heading || listing.description}
      </p>
      <footer className="mt-auto flex flex-wrap items-center gap-1.5 pt-2">
        {listing.categories.slice(0, MAX_CATEGORIES).map((category) => (
          <Badge key={category}>{humanName(category)}</Badge>
        ))}
        {listing.runs > 0 && (
          <span className="ml-auto text-xs text-muted">
            {listing.runs === 1 ? '1 run' : `${count(listing.runs)} runs`}
          </span>
        )}
      </footer>
    </article>
  );
}
