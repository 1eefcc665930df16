import type { KeyboardEvent } from 'react';
import type { SessionSummary } from '@/protocol';
import { groupSessions } from './group-sessions';
import { isUnread, useSeen } from './seen-sessions';
import { type RowActions, SessionRow } from './session-row';

type Props = { sessions: SessionSummary[]; activeId: string | null; actions: RowActions };

/** The sessions under their headings, with arrow key navigation. */
export function SessionGroups({ sessions, activeId, actions }: Props) {
  const seen = useSeen();
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys go to the links inside, which are reachable without them.
    <div onKeyDown={moveByArrows} className="flex flex-col gap-4">
      {groupSessions(sessions).map(({ name, rows }) => (
        <section key={name} aria-label={name}>
          <h3 className="px-3 pb-1 text-xs font-medium text-muted">{name}</h3>
          <ul className="flex flex-col gap-0.5">
            {rows.map(({ session, nested }) => (
              <SessionRow
                key={session.id}
                session={session}
                nested={nested}
                active={session.id === activeId}
                unread={session.id !== activeId && isUnread(session, seen)}
                actions={actions}
              />
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

function moveByArrows(event: KeyboardEvent<HTMLElement>): void {
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-session]')];
  const at = links.indexOf(event.target as HTMLElement);
  if (at === -1) return;
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: links.length - 1 }[event.key];
  const link = to === undefined ? undefined : links[to];
  if (!link) return;
  event.preventDefault();
  link.focus();
}
