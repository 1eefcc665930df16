import { useQuery } from '@tanstack/react-query';
import { Check, Folder, Home } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { wordsOf } from '@/api/problem';
import { classes } from '@/ui/classes';
import { Dialog } from '@/ui/dialog';
import { Failure, Loading } from '@/ui/states';
import { say } from '@/ui/toast';
import { foldersQuery } from './agents';
import { flat } from './folders';

type Props = {
  title: string;
  /** Where it is now; `null` is outside all folders. */
  current: string | null;
  /** Folders that it cannot go into. */
  except?: ReadonlySet<string>;
  open: boolean;
  onClose: () => void;
  onMove: (folder: string | null) => Promise<unknown>;
};

/** Asks for a folder. */
export function MoveDialog({ title, current, except, open, onClose, onMove }: Props) {
  const folders = useQuery({ ...foldersQuery, enabled: open });
  const [moving, setMoving] = useState(false);

  async function move(target: string | null) {
    setMoving(true);
    try {
      await onMove(target);
      onClose();
    } catch (error) {
      say(wordsOf(error), 'bad');
    } finally {
      setMoving(false);
    }
  }

  const places = flat(folders.data?.tree ?? []).filter(({ folder }) => !except?.has(folder.id));
  return (
    <Dialog title={title} open={open} onClose={onClose}>
      {folders.error ? (
        <Failure error={folders.error} onRetry={() => folders.refetch()} />
      ) : folders.isPending ? (
        <Loading rows={3} height="h-10" />
      ) : (
        <ul className="flex flex-col gap-1">
          <Place
            isHere={current === null}
            disabled={moving}
            depth={0}
            icon={<Home className="size-4" />}
            onChoose={() => move(null)}
          >
            No folder
          </Place>
          {places.map(({ folder, depth }) => (
            <Place
              key={folder.id}
              isHere={current === folder.id}
              disabled={moving}
              depth={depth}
              icon={<Folder className="size-4" />}
              onChoose={() => move(folder.id)}
            >
              {folder.name}
            </Place>
          ))}
        </ul>
      )}
      {places.length === 0 && folders.data && (
        <p className="mt-2 text-sm text-muted">There are no folders yet. Make one beside your agents.</p>
      )}
    </Dialog>
  );
}

type PlaceProps = {
  isHere: boolean;
  disabled: boolean;
  depth: number;
  icon: ReactNode;
  onChoose: () => void;
  children: ReactNode;
};

function Place({ isHere, disabled, depth, icon, onChoose, children }: PlaceProps) {
  return (
    <li>
      <button
        type="button"
        disabled={disabled || isHere}
        aria-current={isHere || undefined}
        onClick={onChoose}
        // Deep trees stop moving to the right, so that names can still be read.
        style={{ paddingLeft: `${0.75 + Math.min(depth, 6) * 1.25}rem` }}
        className={classes(
          'flex min-h-10 w-full items-center gap-2 rounded-lg pr-3 text-left text-sm hover:bg-sunken',
          isHere && 'text-accent',
        )}
      >
        {icon}
        <span className="min-w-0 flex-1 truncate">{children}</span>
        {isHere && <Check aria-hidden className="size-4" />}
      </button>
    </li>
  );
}
