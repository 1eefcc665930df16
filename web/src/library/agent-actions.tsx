// What can be done with an agent: in the menu of its card and in the head of its page.

import { useNavigate } from '@tanstack/react-router';
import { CopyPlus, Download, FolderInput, PencilLine, Trash2 } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { api, dataOf } from '@/api/client';
import { wordsOf } from '@/api/problem';
import type { LibraryAgent } from '@/protocol';
import { Confirm } from '@/ui/confirm';
import { MenuItem } from '@/ui/menu';
import { say } from '@/ui/toast';
import { useAgentChanges } from './agents';
import { MoveDialog } from './move-dialog';
import { NameDialog } from './name-dialog';
import { saveAsFile } from './save-as-file';

type Asked = 'rename' | 'move' | 'remove' | null;

/** Menu items, and the dialogs that they open. The dialogs stand outside the menu, which closes before them. */
export function useAgentActions(
  agent: LibraryAgent,
  onRemoved?: () => void,
): { items: ReactNode; dialogs: ReactNode } {
  const navigate = useNavigate();
  const { change, move, fork, remove } = useAgentChanges();
  const [asked, setAsked] = useState<Asked>(null);
  const close = () => setAsked(null);

  async function makeCopy() {
    try {
      const copy = await fork.mutateAsync(agent.id);
      say('The copy is yours. You can change it as you like.', 'good');
      await navigate({ to: '/library/agents/$id', params: { id: copy.id } });
    } catch (error) {
      say(wordsOf(error), 'bad');
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
      saveAsFile(`${agent.name || 'agent'}.json`, JSON.stringify(graph, null, 2));
    } catch (error) {
      say(wordsOf(error), 'bad');
    }
  }

  const isOwn = agent.is_created_by_user;
  const items = (
    <>
      <MenuItem icon={<PencilLine className="size-4" />} onSelect={() => setAsked('rename')}>
        Rename
      </MenuItem>
      <MenuItem icon={<FolderInput className="size-4" />} onSelect={() => setAsked('move')}>
        Move to a folder
      </MenuItem>
      <MenuItem icon={<CopyPlus className="size-4" />} onSelect={makeCopy}>
        Make a copy
      </MenuItem>
      <MenuItem icon={<Download className="size-4" />} onSelect={exportFile}>
        Export as a file
      </MenuItem>
      <MenuItem danger icon={<Trash2 className="size-4" />} onSelect={() => setAsked('remove')}>
        {isOwn ? 'Delete' : 'Remove from the library'}
      </MenuItem>
    </>
  );
  const dialogs = (
    <>
      <NameDialog
        title="Rename the agent"
        initial={agent.name}
        submitLabel="Rename"
        open={asked === 'rename'}
        onClose={close}
        onSubmit={(name) => change.mutateAsync({ id: agent.id, name })}
      />
      <MoveDialog
        title={`Move “${agent.name}”`}
        current={agent.folder_id ?? null}
        open={asked === 'move'}
        onClose={close}
        onMove={(folder) => move.mutateAsync({ id: agent.id, folder })}
      />
      <Confirm
        title={isOwn ? 'Delete the agent?' : 'Remove the agent?'}
        confirmLabel={isOwn ? 'Delete' : 'Remove'}
        open={asked === 'remove'}
        onClose={close}
        onConfirm={async () => {
          await remove.mutateAsync(agent);
          say(isOwn ? 'The agent is deleted.' : 'The agent is no longer in your library.');
          onRemoved?.();
        }}
      >
        {isOwn
          ? `“${agent.name}” goes with all its versions. This cannot be undone; export it first if you may want it again.`
          : `“${agent.name}” leaves your library. It stays in the marketplace, and you can add it again.`}
      </Confirm>
    </>
  );
  return { items, dialogs };
}
