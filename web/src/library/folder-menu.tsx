import { useNavigate } from '@tanstack/react-router';
import { FolderInput, FolderPlus, PencilLine, Trash2 } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { FolderNode } from '@/protocol';
import { Confirm } from '@/ui/confirm';
import { Menu, MenuItem } from '@/ui/menu';
import { useFolderChanges, within } from './folders';
import { MoveDialog } from './move-dialog';
import { NameDialog } from './name-dialog';

type Asked = 'rename' | 'create' | 'move' | 'remove' | null;

/** What can be done with a folder. */
export function FolderMenu({
  folder,
  isWithin,
  trigger,
}: {
  folder: FolderNode;
  /** What is shown is this folder or one in it: both go when it is deleted. */
  isWithin: boolean;
  trigger: ReactNode;
}) {
  const navigate = useNavigate();
  const { create, rename, move, remove } = useFolderChanges();
  const [asked, setAsked] = useState<Asked>(null);
  const close = () => setAsked(null);
  return (
    <>
      <Menu trigger={trigger}>
        <MenuItem icon={<PencilLine className="size-4" />} onSelect={() => setAsked('rename')}>
          Rename
        </MenuItem>
        <MenuItem icon={<FolderPlus className="size-4" />} onSelect={() => setAsked('create')}>
          New folder in it
        </MenuItem>
        <MenuItem icon={<FolderInput className="size-4" />} onSelect={() => setAsked('move')}>
          Move
        </MenuItem>
        <MenuItem danger icon={<Trash2 className="size-4" />} onSelect={() => setAsked('remove')}>
          Delete
        </MenuItem>
      </Menu>
      <NameDialog
        title="Rename the folder"
        initial={folder.name}
        submitLabel="Rename"
        open={asked === 'rename'}
        onClose={close}
        onSubmit={(name) => rename.mutateAsync({ id: folder.id, name })}
      />
      <NameDialog
        title={`New folder in “${folder.name}”`}
        submitLabel="Create"
        open={asked === 'create'}
        onClose={close}
        onSubmit={(name) => create.mutateAsync({ name, parent_id: folder.id })}
      />
      <MoveDialog
        title={`Move the folder “${folder.name}”`}
        current={folder.parent_id ?? null}
        except={within(folder)}
        open={asked === 'move'}
        onClose={close}
        onMove={(parent) => move.mutateAsync({ id: folder.id, parent })}
      />
      <Confirm
        title="Delete the folder?"
        confirmLabel="Delete"
        open={asked === 'remove'}
        onClose={close}
        onConfirm={async () => {
          await remove.mutateAsync(folder.id);
          if (isWithin) await navigate({ to: '/library', search: {} });
        }}
      >
        {folder.subfolder_count > 0
          ? `“${folder.name}” and the folders in it go. Their agents stay in your library, in no folder.`
          : `“${folder.name}” goes. Its agents stay in your library, in no folder.`}
      </Confirm>
    </>
  );
}
