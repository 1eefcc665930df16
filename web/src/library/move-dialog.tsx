import { useQuery } from '@tanstack/react-query';
import { Check, Folder, Home } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { errorMessage } from '@/api/problem';
import { classes } from '@/ui/classes';
import { Dialog } from '@/ui/dialog/dialog';
import { showToast } from '@/ui/feedback/toast';
import { Failure, Loading } from '@/ui/page/states';
import { flattenFolders, foldersQuery } from './folders';

type Props = {
  title: string;
  /** Id of the current folder; `null` means no folder. */
  current: string | null;
  /** Folders that cannot be chosen. */
  except?: ReadonlySet<string>;
  open: boolean;
  onClose: () => void;
  onMove: (folder: string | null) => Promise<unknown>;
};

/** Dialog to choose a folder. */
export function MoveDialog({ title, current, except, open, onClose, onMove }: Props) {
  const folders = useQuery({ ...foldersQuery, enabled: open });
  const [moving, setMoving] = useState(false);

  async function move(target: string | null) {
    setMoving(true);
    try {
      await onMove(target);
      onClose();
    } catch (error) {
      showToast(errorMessage(error), 'bad');
    } finally {
      setMoving(false);
    }
  }

  const options = flattenFolders(folders.data?.tree ?? []).filter(({ folder }) => !except?.has(folder.id));
  return (
    <Dialog title={title} open={open} onClose={onClose}>
      {folders.error ? (
        <Failure error={folders.error} onRetry={() => folders.refetch()} />
      ) : folders.isPending ? (
        <Loading rows={3} height="h-10" />
      ) : (
        <ul className="flex flex-col gap-1">
          <FolderOption
            isCurrent={current === null}
            disabled={moving}
            depth={0}
            icon={<Home className="size-4" />}
            onChoose={() => move(null)}
          >
            No folder
          </FolderOption>
          {options.map(({ folder, depth }) => (
            <FolderOption
              key={folder.id}
              isCurrent={current === folder.id}
              disabled={moving}
              depth={depth}
              icon={<Folder className="size-4" />}
              onChoose={() => move(folder.id)}
            >
              {folder.name}
            </FolderOption>
          ))}
        </ul>
      )}
      {options.length === 0 && folders.data && (
        <p className="mt-2 text-sm text-muted">No folders yet. Create one in your library first.</p>
      )}
    </Dialog>
  );
}

type FolderOptionProps = {
  isCurrent: boolean;
  disabled: boolean;
  depth: number;
  icon: ReactNode;
  onChoose: () => void;
  children: ReactNode;
};

function FolderOption({ isCurrent, disabled, depth, icon, onChoose, children }: FolderOptionProps) {
  return (
    <li>
      <button
        type="button"
        disabled={disabled || isCurrent}
        aria-current={isCurrent || undefined}
        onClick={onChoose}
        // The indentation is limited, so that names in deep trees stay readable.
        style={{ paddingLeft: `${0.75 + Math.min(depth, 6) * 1.25}rem` }}
        className={classes(
          'flex min-h-10 w-full items-center gap-2 rounded-lg pr-3 text-left text-sm hover:bg-sunken',
          isCurrent && 'text-accent',
        )}
      >
        {icon}
        <span className="min-w-0 flex-1 truncate">{children}</span>
        {isCurrent && <Check aria-hidden className="size-4" />}
      </button>
    </li>
  );
}
