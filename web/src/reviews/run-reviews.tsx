import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ArrowUpRight, Bot, MessagesSquare } from 'lucide-react';
import { api, dataOf } from '@/api/client';
import type { Review } from '@/protocol';
import { buttonClasses } from '@/ui/buttons/button';
import { sessionOf } from './draft';
import { ReviewGroup } from './review-group';

/** Pending reviews of one run, with a link to its agent or chat. */
export function RunReviews({ reviews, onDecided }: { reviews: Review[]; onDecided: () => void }) {
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
  // A nested agent may not be in the library; then there is no name and no link.
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
      <h2 className="min-w-0 flex-1 basis-40 font-semibold break-words">{agent?.name ?? 'Agent'}</h2>
      {agent && (
        <Link
          to="/library/agents/$id"
          params={{ id: agent.id }}
          search={{ activeTab: 'runs', activeItem: review.graph_exec_id }}
          className={buttonClasses('quiet', 'small')}
        >
          Open run
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
      <h2 className="min-w-0 flex-1 basis-40 font-semibold">Copilot</h2>
      <Link
        to="/copilot"
        search={{ sessionId: sessionOf(review) ?? undefined }}
        className={buttonClasses('quiet', 'small')}
      >
        Open chat
        <ArrowUpRight aria-hidden className="size-4" />
      </Link>
    </header>
  );
}
