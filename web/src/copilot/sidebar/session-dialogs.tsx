// The dialogs for renaming and deleting a session.

import { useId, useState } from 'react';
import type { SessionSummary } from '@/protocol';
import { Button } from '@/ui/buttons/button';
import { Dialog } from '@/ui/dialog/dialog';
import { Field, Input } from '@/ui/form/field';
import { UNTITLED } from './session-row';

const MAX_TITLE_LENGTH = 200;

type Props<T> = { session: SessionSummary | null; onClose: () => void; onDone: T };

export function RenameDialog({ session, onClose, onDone }: Props<(title: string) => void>) {
  const form = useId();
  return (
    <Dialog
      title="Rename chat"
      open={session !== null}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" form={form}>
            Rename
          </Button>
        </>
      }
    >
      {session && <RenameForm id={form} title={session.title ?? ''} onDone={onDone} />}
    </Dialog>
  );
}

function RenameForm({ id, title, onDone }: { id: string; title: string; onDone: (title: string) => void }) {
  const [text, setText] = useState(title);
  const [error, setError] = useState<string | null>(null);
  return (
    <form
      id={id}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim()) onDone(text.trim());
        else setError('Enter a title.');
      }}
    >
      <Field label="Title" error={error}>
        {(control) => (
          <Input
            {...control}
            data-autofocus
            value={text}
            maxLength={MAX_TITLE_LENGTH}
            onFocus={(event) => event.target.select()}
            onChange={(event) => setText(event.target.value)}
          />
        )}
      </Field>
    </form>
  );
}

export function DeleteDialog({ session, onClose, onDone }: Props<() => void>) {
  return (
    <Dialog
      title="Delete this chat?"
      open={session !== null}
      onClose={onClose}
      actions={
        <>
          <Button data-autofocus onClick={onClose}>
            Cancel
          </Button>
          <Button kind="danger" onClick={onDone}>
            Delete
          </Button>
        </>
      }
    >
      <p className="text-sm break-words">
        <span className="font-medium">“{session?.title ?? UNTITLED}”</span> and all its messages will be
        permanently deleted.
        {session?.is_processing && ' The running response will be stopped.'}
      </p>
    </Dialog>
  );
}
