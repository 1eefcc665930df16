import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Folder, FolderPlus, Library, MoreHorizontal, Star } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { FolderNode } from '@/protocol';
import { Button, IconButton } from '@/ui/buttons/button';
import { EXACT_MATCH } from '@/ui/page/links';
import { Failure, Loading } from '@/ui/page/states';
import { FAVORITES } from './agent-list';
import { FolderMenu } from './folder-menu';
import { flattenFolders, foldersQuery, subtreeIds, useFolderChanges } from './folders';
import { NameDialog } from './name-dialog';

/** Navigation of the library: all agents, favorites and the folder tree. A horizontal row on phones. */
export function FolderNav({ chosen }: { chosen?: string }) {
  const folders = useQuery(foldersQuery);
  const { create } = useFolderChanges();
  const [naming, setNaming] = useState(false);
  return (
    <nav aria-label="Folders" className="flex min-w-0 flex-col gap-2">
      <ul className="-mx-4 flex gap-1 overflow-x-auto px-4 pb-1 sm:-mx-8 sm:px-8 lg:mx-0 lg:flex-col lg:overflow-visible lg:px-0">
        <FolderLink icon={<Library className="size-4" />} label="All agents" isCurrent={!chosen} />
        <FolderLink
          icon={<Star className="size-4" />}
          label="Favorites"
          folder={FAVORITES}
          isCurrent={chosen === FAVORITES}
        />
        {flattenFolders(folders.data?.tree ?? []).map(({ folder, depth }) => (
          <FolderLink
            key={folder.id}
            icon={<Folder className="size-4" />}
            label={folder.name}
            folder={folder.id}
            number={folder.agent_count}
            depth={depth}
            isCurrent={chosen === folder.id}
            menu={
              <FolderActions
                folder={folder}
                isWithin={chosen !== undefined && subtreeIds(folder).has(chosen)}
              />
            }
          />
        ))}
        <li className="shrink-0">
          <Button
            kind="quiet"
            icon={<FolderPlus aria-hidden className="size-4" />}
            className="w-full justify-start pl-3"
            onClick={() => setNaming(true)}
          >
            New folder
          </Button>
        </li>
      </ul>
      {folders.isPending && <Loading label="Loading folders" rows={2} height="h-8" />}
      {folders.error && <Failure error={folders.error} onRetry={() => folders.refetch()} />}
      <NameDialog
        title="New folder"
        submitLabel="Create"
        open={naming}
        onClose={() => setNaming(false)}
        onSubmit={(name) => create.mutateAsync({ name, parent_id: null })}
      />
    </nav>
  );
}

function FolderActions({ folder, isWithin }: { folder: FolderNode; isWithin: boolean }) {
  return (
    <FolderMenu
      folder={folder}
      isWithin={isWithin}
      trigger={
        <IconButton label={`Actions for folder ${folder.name}`} className="size-8">
          <MoreHorizontal className="size-4" />
        </IconButton>
      }
    />
  );
}

type FolderLinkProps = {
  icon: ReactNode;
  label: string;
  folder?: string;
  number?: number;
  depth?: number;
  isCurrent: boolean;
  menu?: ReactNode;
};

function FolderLink({ icon, label, folder, number, depth = 0, isCurrent, menu }: FolderLinkProps) {
  return (
    <li className="flex shrink-0 items-center rounded-lg hover:bg-sunken has-[[aria-current]]:bg-accent-soft">
      <span aria-hidden className="hidden lg:block" style={{ width: `${Math.min(depth, 6)}rem` }} />
      <Link
        to="/library"
        search={(before) => ({ ...before, folder })}
        aria-current={isCurrent ? 'page' : undefined}
        activeOptions={EXACT_MATCH}
        className="flex h-10 max-w-52 min-w-0 flex-1 items-center gap-2 rounded-lg px-3 text-sm text-muted aria-[current=page]:font-medium aria-[current=page]:text-accent lg:max-w-none"
      >
        {icon}
        <span className="min-w-0 flex-1 truncate">{label}</span>
        {number !== undefined && number > 0 && <span className="text-xs">{number}</span>}
      </Link>
      {menu}
    </li>
  );
}
