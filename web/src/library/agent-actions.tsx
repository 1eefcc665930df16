// Actions on an agent, for the menu of its card and of its page.

import { useNavigate } from '@tanstack/react-router';
import { CopyPlus, Download, FolderInput, PencilLine, Trash2 } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { api, dataOf } from '@/api/client';
import { errorMessage } from '@/api/problem';
import { fileName, saveFile } from '@/lib/save-file';
import type { LibraryAgent } from '@/protocol';
import { MenuItem } from '@/ui/buttons/menu';
import { Confirm } from '@/ui/dialog/confirm';
import { showToast } from '@/ui/feedback/toast';
import { useAgentChanges } from './agent-changes';
import { MoveDialog } from './move-dialog';
import { NameDialog } from './name-dialog';

type OpenDialog = 'rename' | 'move' | 'remove' | null;

/** Menu items and the dialogs they open. The dialogs are rendered outside the menu, since it closes before them. */
export function useAgentActions(
  agent: LibraryAgent,
  onRemoved?: () => void,
): { items: ReactNode; dialogs: ReactNode } {
  const navigate = useNavigate();
  const { change, move, fork, remove } = useAgentChanges();
  const [dialog, setDialog] = useState<OpenDialog>(null);
  const close = () => setDialog(null);

  async function duplicate() {
    try {
      const copy = await fork.mutateAsync(agent.id);
      showToast('Copied to your library.', 'good');
      await navigate({ to: '/library/agents/$id', params: { id: copy.id } });
    } catch (error) {
      showToast(errorMessage(error), 'bad');
    }
  }

  async function exportFile() {
    try {
      const graph = await dataOf(
        api.GET('/api/graphs/{graph_id}', {
          params: {
            path: { graph_id: agent.graph_id },
            query: { version: agent.graph_version, for_export: true },
          },
        }),
      );
      const json = new Blob([JSON.stringify(graph, null, 2)], { type: 'application/json' });
      saveFile(fileName(`${agent.name || 'agent'}.json`), json);
    } catch (error) {
      showToast(errorMessage(error), 'bad');
    }
  }

  const isOwn = agent.is_created_by_user;
  const items = (
    <>
      <MenuItem icon={<PencilLine className="size-4" />} onSelect={() => setDialog('rename')}>
        Rename
      </MenuItem>
      <MenuItem icon={<FolderInput className="size-4" />} onSelect={() => setDialog('move')}>
        Move to folder
      </MenuItem>
      <MenuItem icon={<CopyPlus className="size-4" />} onSelect={duplicate}>
        Duplicate
      </MenuItem>
      <MenuItem icon={<Download className="size-4" />} onSelect={exportFile}>
        Export
      </MenuItem>
      <MenuItem danger icon={<Trash2 className="size-4" />} onSelect={() => setDialog('remove')}>
        {isOwn ? 'Delete' : 'Remove from library'}
      </MenuItem>
    </>
  );
  const dialogs = (
    <>
      <NameDialog
        title="Rename agent"
        initial={agent.name}
        submitLabel="Rename"
        open={dialog === 'rename'}
        onClose={close}
        onSubmit={(name) => change.mutateAsync({ id: agent.id, name })}
      />
      <MoveDialog
        title={`Move “${agent.name}”`}
        current={agent.folder_id ?? null}
        open={dialog === 'move'}
        onClose={close}
        onMove={(folder) => move.mutateAsync({ id: agent.id, folder })}
      />
      <Confirm
        title={isOwn ? 'Delete this agent?' : 'Remove this agent?'}
        confirmLabel={isOwn ? 'Delete' : 'Remove'}
        open={dialog === 'remove'}
        onClose={close}
        onConfirm={async () => {
          await remove.mutateAsync(agent);
          showToast(isOwn ? 'Agent deleted.' : 'Agent removed from your library.');
          onRemoved?.();
        }}
      >
        {isOwn
          ? `“${agent.name}” and all its versions will be permanently deleted. To keep a copy, export it first.`
          : `“${agent.name}” will be removed from your library. You can add it again from the marketplace.`}
      </Confirm>
    </>
  );
  return { items, dialogs };
}
