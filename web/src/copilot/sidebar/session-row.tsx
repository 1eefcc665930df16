import { Link } from '@tanstack/react-router';
import { CornerDownRight, Ellipsis, Pencil, Pin, PinOff, Trash2 } from 'lucide-react';
import { memo } from 'react';
import type { SessionSummary } from '@/protocol';
import { IconButton } from '@/ui/buttons/button';
import { Menu, MenuItem } from '@/ui/buttons/menu';
import { classes } from '@/ui/classes';
import { Dot } from '@/ui/feedback/badge';
import { ago } from '@/ui/text/format';

export const UNTITLED = 'New chat';

export type RowActions = {
  onOpen: () => void;
  onRename: (session: SessionSummary) => void;
  onPin: (session: SessionSummary) => void;
  onRemove: (session: SessionSummary) => void;
};

type Props = {
  session: SessionSummary;
  active: boolean;
  unread: boolean;
  nested: boolean;
  actions: RowActions;
};

/** One session in the list: a link with its status, and a menu of actions. */
export const SessionRow = memo(function SessionRow({ session, active, unread, nested, actions }: Props) {
  const title = session.title ?? UNTITLED;
  const isSub = session.parent_session_id != null;
  return (
    <li className={classes('group relative', nested && 'pl-4')}>
      <Link
        to="/copilot"
        search={{ sessionId: session.id }}
        onClick={actions.onOpen}
        data-session={session.id}
        aria-current={active ? 'page' : undefined}
        title={`${title}\n${ago(session.updated_at)}`}
        className={classes(
          'flex min-h-9 items-center gap-2 rounded-lg py-1.5 pr-3.5 pl-3 text-sm group-focus-within:pr-11 group-hover:pr-11 group-has-data-[state=open]:pr-11 hover:bg-sunken pointer-coarse:min-h-11 pointer-coarse:pr-12',
          active && 'bg-accent-soft hover:bg-accent-soft',
          (active || unread) && 'font-medium',
        )}
      >
        {isSub && <CornerDownRight aria-label="Sub-session" className="size-3.5 shrink-0 text-muted" />}
        <span className={classes('min-w-0 flex-1 truncate', !session.title && 'text-muted italic')}>
          {title}
        </span>
        {session.is_processing ? (
          <span className="flex animate-pulse rounded-full ring-4 ring-accent/25">
            <Dot tone="accent" label="Running" />
          </span>
        ) : (
          unread && <Dot tone="accent" label="Unread" />
        )}
      </Link>
      <RowMenu session={session} title={title} actions={actions} />
    </li>
  );
});

function RowMenu({
  session,
  title,
  actions,
}: {
  session: SessionSummary;
  title: string;
  actions: RowActions;
}) {
  return (
    <Menu
      trigger={
        <IconButton
          label={`Actions for ${title}`}
          className="absolute top-1/2 right-1 size-8 -translate-y-1/2 opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 focus-visible:opacity-100 data-[state=open]:opacity-100 pointer-coarse:size-10 pointer-coarse:opacity-100"
        >
          <Ellipsis aria-hidden className="size-4" />
        </IconButton>
      }
    >
      <MenuItem icon={<Pencil aria-hidden className="size-4" />} onSelect={() => actions.onRename(session)}>
        Rename
      </MenuItem>
      <MenuItem
        icon={
          session.is_pinned ? (
            <PinOff aria-hidden className="size-4" />
          ) : (
            <Pin aria-hidden className="size-4" />
          )
        }
        onSelect={() => actions.onPin(session)}
      >
        {session.is_pinned ? 'Unpin' : 'Pin'}
      </MenuItem>
      <MenuItem
        danger
        icon={<Trash2 aria-hidden className="size-4" />}
        onSelect={() => actions.onRemove(session)}
      >
        Delete
      </MenuItem>
    </Menu>
  );
}
