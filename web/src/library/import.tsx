// Imports an agent from a file.

import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ChangeEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { agentOfGraph, LIBRARY } from '@/agents/agent-queries';
import { api, dataOf } from '@/api/client';
import { errorMessage } from '@/api/problem';
import type { GraphRequest } from '@/protocol';
import { Button } from '@/ui/buttons/button';
import { Dialog } from '@/ui/dialog/dialog';
import { showToast } from '@/ui/feedback/toast';
import { bytes } from '@/ui/text/format';
import { graphErrors } from './start-run';

type ImportError = { file: string; message: string; reasons: string[] };

/** The server's limit for a request body. */
const MAX_FILE_BYTES = 1024 * 1024;

/** Imports a file that is chosen or dropped on the page. `controls` must be rendered somewhere. */
export function useImport(): { choose: () => void; busy: boolean; controls: ReactNode } {
  const picker = useRef<HTMLInputElement>(null);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ImportError | null>(null);

  async function importFile(file: File) {
    setBusy(true);
    try {
      const graph = await readGraph(file);
      const created = await dataOf(api.POST('/api/graphs', { body: graph }));
      const agent = await agentOfGraph(created.id ?? '');
      showToast(`Added “${agent.name}” to your library.`, 'good');
      await navigate({ to: '/library/agents/$id', params: { id: agent.id } });
    } catch (error) {
      setFailure({ file: file.name, message: errorMessage(error), reasons: graphErrors(error) });
    } finally {
      setBusy(false);
      void queries.invalidateQueries({ queryKey: LIBRARY });
    }
  }

  const latestImport = useRef(importFile);
  latestImport.current = importFile;
  useEffect(() => onDroppedFile((file) => void latestImport.current(file)), []);

  function pick(event: ChangeEvent<HTMLInputElement>) {
    const file = event.target.files?.[0];
    // Reset, so that the same file can be chosen again after it was fixed.
    event.target.value = '';
    if (file) void importFile(file);
  }

  const controls = (
    <>
      <input
        ref={picker}
        type="file"
        accept=".json,application/json"
        className="hidden"
        tabIndex={-1}
        aria-label="Agent file"
        onChange={pick}
      />
      <Dialog
        title="Couldn't import the file"
        open={failure !== null}
        onClose={() => setFailure(null)}
        actions={
          <Button kind="primary" onClick={() => setFailure(null)}>
            Close
          </Button>
        }
      >
        <p className="mb-3 text-sm text-muted break-words">{failure?.file}</p>
        {failure && failure.reasons.length > 0 ? (
          <ul className="flex list-disc flex-col gap-2 pl-5 text-sm break-words">
            {failure.reasons.map((reason) => (
              <li key={reason}>{reason}</li>
            ))}
          </ul>
        ) : (
          <p className="text-sm break-words">{failure?.message}</p>
        )}
      </Dialog>
    </>
  );
  return { choose: () => picker.current?.click(), busy, controls };
}

async function readGraph(file: File): Promise<GraphRequest> {
  if (file.size > MAX_FILE_BYTES) {
    throw new Error(`That file is too large (${bytes(file.size)}). The limit is ${bytes(MAX_FILE_BYTES)}.`);
  }
  try {
    return JSON.parse(await file.text());
  } catch {
    throw new Error("That file isn't valid JSON. Choose an exported agent.");
  }
}

function onDroppedFile(handle: (file: File) => void): () => void {
  const over = (event: DragEvent) => {
    if (event.dataTransfer?.types.includes('Files')) event.preventDefault();
  };
  const drop = (event: DragEvent) => {
    const file = event.dataTransfer?.files[0];
    if (!file) return;
    event.preventDefault();
    handle(file);
  };
  addEventListener('dragover', over);
  addEventListener('drop', drop);
  return () => {
    removeEventListener('dragover', over);
    removeEventListener('drop', drop);
  };
}
