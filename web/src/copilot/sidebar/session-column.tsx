import { Link } from '@tanstack/react-router';
import { SquarePen, X } from 'lucide-react';
import { memo, type RefObject, useState } from 'react';
import { buttonClasses, IconButton } from '@/ui/button';
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
  /** Something was opened, or the drawer is to be closed. */
  onLeave: () => void;
};

/** What the sidebar shows, be it a column or a drawer. Not made again while an answer streams in. */
export const SessionColumn = memo(function SessionColumn(props: Props) {
  const { activeId, activeBusy, search, inDrawer, onLeave } = props;
  const [words, setWords] = useState('');
  return (
    <nav aria-label="Sessions" className="flex h-full flex-col">
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
            <IconButton label="Close the list" className="size-10" onClick={onLeave}>
              <X aria-hidden className="size-5" />
            </IconButton>
          )}
        </div>
        <SearchField ref={search} words={words} onChange={setWords} />
      </div>
      <SessionList words={words} activeId={activeId} activeBusy={activeBusy} onLeave={onLeave} />
      <div className="flex items-center gap-2 border-t border-line py-2 pr-2 pl-4">
        <ModelLine />
        <ThemeSwitch />
      </div>
    </nav>
  );
});
