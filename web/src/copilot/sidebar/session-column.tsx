import { Link } from '@tanstack/react-router';
import { SquarePen, X } from 'lucide-react';
import { memo, type RefObject, useState } from 'react';
import { buttonClasses, IconButton } from '@/ui/buttons/button';
import { classes } from '@/ui/classes';
import { ModelLine } from './model-line';
import { SearchField } from './search-field';
import { SessionList } from './session-list';
import { ThemeSwitch } from './theme-switch';

type Props = {
  activeId: string | null;
  activeBusy: boolean;
  search: RefObject<HTMLInputElement | null>;
  inDrawer: boolean;
  /** Called when a link was followed, or the drawer should close. */
  onLeave: () => void;
};

/** The content of the sidebar, as a column or a drawer. Memoized, so that it isn't rendered while a response streams. */
export const SessionColumn = memo(function SessionColumn(props: Props) {
  const { activeId, activeBusy, search, inDrawer, onLeave } = props;
  const [query, setQuery] = useState('');
  return (
    <nav aria-label="Chats" className="flex h-full flex-col">
      <div className="flex flex-col gap-2 p-3">
        <div className="flex items-center gap-2">
          <Link
            to="/copilot"
            search={{}}
            onClick={onLeave}
            title="New chat (Ctrl+Shift+O)"
            aria-keyshortcuts="Control+Shift+O Meta+Shift+O"
            className={classes(buttonClasses('secondary'), 'flex-1')}
          >
            <SquarePen aria-hidden className="size-4" />
            New chat
          </Link>
          {inDrawer && (
            <IconButton label="Close chat list" className="size-10" onClick={onLeave}>
              <X aria-hidden className="size-5" />
            </IconButton>
          )}
        </div>
        <SearchField ref={search} query={query} onChange={setQuery} />
      </div>
      <SessionList query={query} activeId={activeId} activeBusy={activeBusy} onLeave={onLeave} />
      <div className="flex items-center gap-2 border-t border-line py-2 pr-2 pl-4">
        <ModelLine />
        <ThemeSwitch />
      </div>
    </nav>
  );
});
