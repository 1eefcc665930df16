import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ArrowUpRight, Bot, MessagesSquare } from 'lucide-react';
import { api, dataOf } from '@/api/client';
import type { Review } from '@/protocol';
import { buttonClasses } from '@/ui/button';
import { sessionOf } from './draft';
import { ReviewGroup } from './review-group';

/** One run that waits: whose it is, the way to it, and what it asks. */
export function RunOfReviews({ reviews, onDecided }: { reviews: Review[]; onDecided: () => void }) {
  const [first] = reviews;
  if (!first) return null;
  return (
    <section className="flex flex-col gap-4 rounded-2xl border border-line bg-surface p-4 sm:p-5">
      {sessionOf(first) ? <SessionHeader review={first} /> : <AgentHeader review={first} />}
      <ReviewGroup reviews={reviews} onDecided={onDecided} />
    </section>
  );
}

function AgentHeader({ review }: { review: Review }) {
  // A run of an agent inside an agent may be of one that is not in the library: then there is no name and no way.
  const { data: agent } = useQuery({
    queryKey: ['library', 'by-graph', review.graph_id],
    queryFn: () =>
      dataOf(
        api.GET('/api/library/agents/by-graph/{graph_id}', {
          params: { path: { graph_id: review.graph_id } },
        }),
      ),
    staleTime: 60_000,
  });
  return (
    <header className="flex flex-wrap items-center gap-x-3">
      <Bot aria-hidden className="size-5 shrink-0 text-accent" />
      <h2 className="min-w-0 flex-1 basis-40 font-semibold break-words">{agent?.name ?? 'An agent'}</h2>
      {agent && (
        <Link
          to="/library/agents/$id"
          params={{ id: agent.id }}
          search={{ activeTab: 'runs', activeItem: review.graph_exec_id }}
          className={buttonClasses('quiet', 'small')}
        >
          See the run
          <ArrowUpRight aria-hidden className="size-4" />
        </Link>
      )}
    </header>
  );
}

function SessionHeader({ review }: { review: Review }) {
  return (
    <header className="flex flex-wrap items-center gap-x-3">
      <MessagesSquare aria-hidden className="size-5 shrink-0 text-accent" />
      <h2 className="min-w-0 flex-1 basis-40 font-semibold">The copilot</h2>
      <Link
        to="/copilot"
        search={{ sessionId: sessionOf(review) ?? undefined }}
        className={buttonClasses('quiet', 'small')}
      >
        See the session
        <ArrowUpRight aria-hidden className="size-4" />
      </Link>
    </header>
  );
}
