import { useNavigate } from '@tanstack/react-router';
import { FolderInput, FolderPlus, PencilLine, Trash2 } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { FolderNode } from '@/protocol';
import { Menu, MenuItem } from '@/ui/buttons/menu';
import { Confirm } from '@/ui/dialog/confirm';
import { subtreeIds, useFolderChanges } from './folders';
import { MoveDialog } from './move-dialog';
import { NameDialog } from './name-dialog';

type OpenDialog = 'rename' | 'create' | 'move' | 'remove' | null;

/** Menu of actions on a folder. */
export function FolderMenu({
  folder,
  isWithin,
  trigger,
}: {
  folder: FolderNode;
  /** The open folder is this one or a subfolder, so deleting it closes the open one. */
  isWithin: boolean;
  trigger: ReactNode;
}) {
  const navigate = useNavigate();
  const { create, rename, move, remove } = useFolderChanges();
  const [dialog, setDialog] = useState<OpenDialog>(null);
  const close = () => setDialog(null);
  return (
    <>
      <Menu trigger={trigger}>
        <MenuItem icon={<PencilLine className="size-4" />} onSelect={() => setDialog('rename')}>
          Rename
        </MenuItem>
        <MenuItem icon={<FolderPlus className="size-4" />} onSelect={() => setDialog('create')}>
          New subfolder
        </MenuItem>
        <MenuItem icon={<FolderInput className="size-4" />} onSelect={() => setDialog('move')}>
          Move
        </MenuItem>
        <MenuItem danger icon={<Trash2 className="size-4" />} onSelect={() => setDialog('remove')}>
          Delete
        </MenuItem>
      </Menu>
      <NameDialog
        title="Rename folder"
        initial={folder.name}
        submitLabel="Rename"
        open={dialog === 'rename'}
        onClose={close}
        onSubmit={(name) => rename.mutateAsync({ id: folder.id, name })}
      />
      <NameDialog
        title={`New subfolder of “${folder.name}”`}
        submitLabel="Create"
        open={dialog === 'create'}
        onClose={close}
        onSubmit={(name) => create.mutateAsync({ name, parent_id: folder.id })}
      />
      <MoveDialog
        title={`Move “${folder.name}”`}
        current={folder.parent_id ?? null}
        except={subtreeIds(folder)}
        open={dialog === 'move'}
        onClose={close}
        onMove={(parent) => move.mutateAsync({ id: folder.id, parent })}
      />
      <Confirm
        title="Delete this folder?"
        confirmLabel="Delete"
        open={dialog === 'remove'}
        onClose={close}
        onConfirm={async () => {
          await remove.mutateAsync(folder.id);
          if (isWithin) await navigate({ to: '/library', search: {} });
        }}
      >
        {folder.subfolder_count > 0
          ? `“${folder.name}” and its subfolders will be permanently deleted. Their agents stay in your library.`
          : `“${folder.name}” will be permanently deleted. Its agents stay in your library.`}
      </Confirm>
    </>
  );
}
