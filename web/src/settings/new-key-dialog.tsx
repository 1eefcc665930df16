import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { api, dataOf } from '@/api/client';
import { errorMessage } from '@/api/problem';
import { Button } from '@/ui/buttons/button';
import { CopyButton } from '@/ui/buttons/copy-button';
import { Dialog } from '@/ui/dialog/dialog';
import { Field, Input } from '@/ui/form/field';
import { apiKeysQuery } from './api-keys-query';

const MAX_NAME_CHARS = 100;

/** Creates a key and shows it once. */
export function NewKeyDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const client = useQueryClient();
  const form = useId();
  const [name, setName] = useState('');
  const create = useMutation({
    mutationFn: () => dataOf(api.POST('/api/api-keys', { body: { name: name.trim() } })),
    onSuccess: () => client.invalidateQueries({ queryKey: apiKeysQuery.queryKey }),
  });

  // The key is discarded when the dialog closes.
  function close() {
    create.reset();
    setName('');
    onClose();
  }

  function submit(event: FormEvent) {
    event.preventDefault();
    create.mutate();
  }

  if (create.data)
    return (
      <Dialog
        title="Your new key"
        open={open}
        onClose={close}
        actions={
          <Button kind="primary" onClick={close}>
            Done
          </Button>
        }
      >
        <p className="text-sm">Copy it now. You won't see it again.</p>
        <div className="mt-3 flex items-center gap-2 rounded-lg bg-sunken p-2 pl-3">
          <code className="min-w-0 flex-1 text-sm break-all select-all">{create.data.key}</code>
          <CopyButton text={create.data.key} label="Copy key" />
        </div>
      </Dialog>
    );

  return (
    <Dialog
      title="New API key"
      open={open}
      onClose={close}
      actions={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" form={form} kind="primary" busy={create.isPending} disabled={!name.trim()}>
            Create key
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit}>
        <Field
          label="Name"
          hint="A name to recognize this key later."
          error={create.isError ? errorMessage(create.error) : null}
        >
          {(control) => (
            <Input
              {...control}
              autoFocus
              value={name}
              maxLength={MAX_NAME_CHARS}
              placeholder="Nightly reports"
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
      </form>
    </Dialog>
  );
}
