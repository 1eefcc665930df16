import { Link } from '@tanstack/react-router';
import { Bot, MoreHorizontal } from 'lucide-react';
import type { ExecutionMeta, LibraryAgent } from '@/protocol';
import { IconButton } from '@/ui/buttons/button';
import { Menu } from '@/ui/buttons/menu';
import { RunStatus } from '@/ui/feedback/run-status';
import { ago } from '@/ui/text/format';
import { useAgentActions } from './agent-actions';
import { FavoriteButton } from './favorite-button';

/** Card of one library agent. The whole card is a link to it. */
export function AgentCard({ agent, lastRun }: { agent: LibraryAgent; lastRun?: ExecutionMeta }) {
  const { items, dialogs } = useAgentActions(agent);
  return (
    <article className="group relative flex h-full min-h-40 flex-col gap-2 rounded-2xl border border-line bg-surface p-4 transition hover:border-line-strong has-[a:focus-visible]:outline-2 has-[a:focus-visible]:outline-accent">
      <header className="flex items-start gap-3">
        <span className="flex size-9 shrink-0 items-center justify-center rounded-xl bg-accent-soft text-accent">
          <Bot aria-hidden className="size-5" />
        </span>
        <h2 className="min-w-0 flex-1 pt-1 font-semibold break-words">
          <Link
            to="/library/agents/$id"
            params={{ id: agent.id }}
            className="line-clamp-2 outline-none after:absolute after:inset-0 after:rounded-2xl"
          >
            {agent.name || 'Untitled agent'}
          </Link>
        </h2>
        {/* On top of the link that covers the card. */}
        <div className="relative z-10 -mt-1 -mr-2 flex">
          <FavoriteButton agent={agent} />
          <Menu
            trigger={
              <IconButton label={`Actions for ${agent.name}`}>
                <MoreHorizontal className="size-4" />
              </IconButton>
            }
          >
            {items}
          </Menu>
        </div>
      </header>
      <p className="line-clamp-3 text-sm break-words text-muted">{agent.description || 'No description.'}</p>
      <footer className="mt-auto flex flex-wrap items-center gap-x-3 gap-y-1 pt-2 text-xs text-muted">
        {lastRun && <RunStatus status={lastRun.status} />}
        <span>{agent.last_run_at ? `Last run ${ago(agent.last_run_at)}` : 'Never run'}</span>
        {agent.creator && <span className="min-w-0 truncate">by {agent.creator}</span>}
      </footer>
      {dialogs}
    </article>
  );
}
