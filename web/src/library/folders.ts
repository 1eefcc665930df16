// Library folders: query, tree helpers and mutations.

import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { LIBRARY } from '@/agents/agent-queries';
import { api, dataOf } from '@/api/client';
import type { FolderNode } from '@/protocol';

export const foldersQuery = queryOptions({
  queryKey: [...LIBRARY, 'folders'],
  queryFn: () => dataOf(api.GET('/api/library/folders/tree')),
});

export type FlatFolder = { folder: FolderNode; depth: number; path: string };

/** The folder tree as a list, parents before their children. */
export function flattenFolders(tree: FolderNode[], depth = 0, above = ''): FlatFolder[] {
  return tree.flatMap((folder) => {
    const path = above ? `${above} / ${folder.name}` : folder.name;
    return [{ folder, depth, path }, ...flattenFolders(folder.children, depth + 1, path)];
  });
}

/** Ids of the folder and all its subfolders, into which it cannot be moved. */
export function subtreeIds(folder: FolderNode): Set<string> {
  return new Set(flattenFolders([folder]).map((one) => one.folder.id));
}

export function useFolderChanges() {
  const queries = useQueryClient();
  const refresh = () => queries.invalidateQueries({ queryKey: LIBRARY });
  const byId = (id: string) => ({ params: { path: { folder_id: id } } });

  const create = useMutation({
    mutationFn: (body: { name: string; parent_id: string | null }) =>
      dataOf(api.POST('/api/library/folders', { body })),
    onSettled: refresh,
  });
  const rename = useMutation({
    mutationFn: ({ id, name }: { id: string; name: string }) =>
      dataOf(api.PATCH('/api/library/folders/{folder_id}', { ...byId(id), body: { name } })),
    onSettled: refresh,
  });
  const move = useMutation({
    mutationFn: ({ id, parent }: { id: string; parent: string | null }) =>
      dataOf(
        api.POST('/api/library/folders/{folder_id}/move', {
          ...byId(id),
          body: { target_parent_id: parent },
        }),
      ),
    onSettled: refresh,
  });
  const remove = useMutation({
    mutationFn: (id: string) => dataOf(api.DELETE('/api/library/folders/{folder_id}', byId(id))),
    onSettled: refresh,
  });
  return { create, rename, move, remove };
}
