import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { KeyRound, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { api, dataOf } from '@/api/client';
import type { ApiKeyView } from '@/protocol';
import { Button, IconButton } from '@/ui/buttons/button';
import { Dialog } from '@/ui/dialog/dialog';
import { showToast } from '@/ui/feedback/toast';
import { Failure, Loading } from '@/ui/page/states';
import { when } from '@/ui/text/format';
import { apiKeysQuery } from './api-keys-query';
import { NewKeyDialog } from './new-key-dialog';
import { Section } from './section';

export function ApiKeys() {
  const keys = useQuery(apiKeysQuery);
  const [creating, setCreating] = useState(false);
  const [revoking, setRevoking] = useState<ApiKeyView | null>(null);
  return (
    <Section
      id="api-keys"
      title="API keys"
      hint="Programs with a key can act as you. Send the key in the x-api-key header."
      actions={
        <Button icon={<Plus aria-hidden className="size-4" />} onClick={() => setCreating(true)}>
          New key
        </Button>
      }
    >
      {keys.isPending && <Loading label="Loading keys" rows={2} height="h-12" />}
      {keys.isError && <Failure error={keys.error} onRetry={() => keys.refetch()} />}
      {keys.data?.api_keys.length === 0 && (
        <p className="text-sm text-muted">
          No API keys yet. Create one per program so you can revoke them separately.
        </p>
      )}
      {keys.data && keys.data.api_keys.length > 0 && (
        <ul className="divide-y divide-line">
          {keys.data.api_keys.map((key) => (
            <li key={key.id} className="flex items-center gap-3 py-2.5 text-sm">
              <KeyRound aria-hidden className="size-4 shrink-0 text-muted" />
              <div className="min-w-0 flex-1">
                <p className="font-medium break-words">{key.name}</p>
                <p className="text-xs text-muted">
                  <code>{key.head}…</code> · created {when(key.created_at)}
                </p>
              </div>
              <IconButton label={`Revoke ${key.name}`} onClick={() => setRevoking(key)}>
                <Trash2 className="size-4" />
              </IconButton>
            </li>
          ))}
        </ul>
      )}
      <NewKeyDialog open={creating} onClose={() => setCreating(false)} />
      <RevokeDialog revoked={revoking} onClose={() => setRevoking(null)} />
    </Section>
  );
}

function RevokeDialog({ revoked, onClose }: { revoked: ApiKeyView | null; onClose: () => void }) {
  const client = useQueryClient();
  const revoke = useMutation({
    mutationFn: (id: string) =>
      dataOf(api.DELETE('/api/api-keys/{key_id}', { params: { path: { key_id: id } } })),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: apiKeysQuery.queryKey });
      showToast('Key revoked.');
      close();
    },
  });
  function close() {
    revoke.reset();
    onClose();
  }
  return (
    <Dialog
      title="Revoke this key?"
      open={revoked !== null}
      onClose={close}
      actions={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button kind="danger" busy={revoke.isPending} onClick={() => revoked && revoke.mutate(revoked.id)}>
            Revoke
          </Button>
        </>
      }
    >
      <p className="text-sm break-words">
        Programs that use <strong>{revoked?.name}</strong> will lose access immediately. This can't be undone.
      </p>
      {revoke.isError && (
        <div className="mt-3">
          <Failure error={revoke.error} />
        </div>
      )}
    </Dialog>
  );
}
