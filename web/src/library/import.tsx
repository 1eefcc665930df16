// Bringing an agent from a file into the library.

import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ChangeEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { api, dataOf } from '@/api/client';
import { wordsOf } from '@/api/problem';
import type { GraphRequest } from '@/protocol';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import { bytes } from '@/ui/format';
import { say } from '@/ui/toast';
import { agentOfGraph, LIBRARY } from './agents';
import { graphErrors } from './start-run';

type Refusal = { file: string; words: string; reasons: string[] };

/** What the server takes at once. */
const LARGEST = 1024 * 1024;

/** Chooses a file and sends it; also one that is dropped on the page. `controls` has to stand somewhere. */
export function useImport(): { choose: () => void; busy: boolean; controls: ReactNode } {
  const picker = useRef<HTMLInputElement>(null);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [busy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<Refusal | null>(null);

  async function take(file: File) {
    setBusy(true);
    try {
      const graph = await read(file);
      const made = await dataOf(api.POST('/api/graphs', { body: graph }));
      const agent = await agentOfGraph(made.id ?? '');
      say(`“${agent.name}” is in your library.`, 'good');
      await navigate({ to: '/library/agents/$id', params: { id: agent.id } });
    } catch (error) {
      setRefusal({ file: file.name, words: wordsOf(error), reasons: graphErrors(error) });
    } finally {
      setBusy(false);
      void queries.invalidateQueries({ queryKey: LIBRARY });
    }
  }

  const taking = useRef(take);
  taking.current = take;
  useEffect(() => onDroppedFile((file) => void taking.current(file)), []);

  function pick(event: ChangeEvent<HTMLInputElement>) {
    const file = event.target.files?.[0];
    // The same file can be chosen again after it was mended.
    event.target.value = '';
    if (file) void take(file);
  }

  const controls = (
    <>
      <input
        ref={picker}
        type="file"
        accept=".json,application/json"
        className="hidden"
        tabIndex={-1}
        aria-label="File of an agent"
        onChange={pick}
      />
      <Dialog
        title="The file was not imported"
        open={refusal !== null}
        onClose={() => setRefusal(null)}
        actions={
          <Button kind="primary" onClick={() => setRefusal(null)}>
            Close
          </Button>
        }
      >
        <p className="mb-3 text-sm text-muted break-words">{refusal?.file}</p>
        {refusal && refusal.reasons.length > 0 ? (
          <ul className="flex list-disc flex-col gap-2 pl-5 text-sm break-words">
            {refusal.reasons.map((reason) => (
              <li key={reason}>{reason}</li>
            ))}
          </ul>
        ) : (
          <p className="text-sm break-words">{refusal?.words}</p>
        )}
      </Dialog>
    </>
  );
  return { choose: () => picker.current?.click(), busy, controls };
}

async function read(file: File): Promise<GraphRequest> {
  if (file.size > LARGEST) {
    throw new Error(`The file has ${bytes(file.size)}. An agent has at most ${bytes(LARGEST)}.`);
  }
  try {
    return JSON.parse(await file.text());
  } catch {
    throw new Error('The file is no JSON. Choose a file that was exported from a library.');
  }
}

function onDroppedFile(take: (file: File) => void): () => void {
  const over = (event: DragEvent) => {
    if (event.dataTransfer?.types.includes('Files')) event.preventDefault();
  };
  const drop = (event: DragEvent) => {
    const file = event.dataTransfer?.files[0];
    if (!file) return;
    event.preventDefault();
    take(file);
  };
  addEventListener('dragover', over);
  addEventListener('drop', drop);
  return () => {
    removeEventListener('dragover', over);
    removeEventListener('drop', drop);
  };
}
