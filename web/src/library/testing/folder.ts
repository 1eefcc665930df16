import type { FolderNode } from '@/protocol';

/** A folder named after its id. */
export function folder(id: string, children: FolderNode[] = []): FolderNode {
  return {
    id,
    name: id,
    created_at: '',
    updated_at: '',
    agent_count: 0,
    subfolder_count: children.length,
    children,
  };
}
