import { type FormEvent, useId, useState } from 'react';
import { Button } from '@/ui/buttons/button';
import { Dialog } from '@/ui/dialog/dialog';
import { Field, Input } from '@/ui/form/field';
import { useAttempt } from '@/ui/form/use-attempt';

type Props = {
  title: string;
  initial?: string;
  submitLabel: string;
  open: boolean;
  onClose: () => void;
  /** If it fails, the dialog stays open and shows the error. */
  onSubmit: (name: string) => Promise<unknown>;
};

/** Dialog to enter a name. */
export function NameDialog({ title, initial = '', submitLabel, open, onClose, onSubmit }: Props) {
  const form = useId();
  const [typed, setTyped] = useState<string | null>(null);
  const { busy, problem, setProblem, attempt } = useAttempt();
  const name = typed ?? initial;

  function close() {
    setTyped(null);
    setProblem(null);
    onClose();
  }

  async function submit(event: FormEvent) {
    event.preventDefault();
    if (!name.trim()) setProblem('Enter a name.');
    else if (await attempt(() => onSubmit(name.trim()))) close();
  }

  return (
    <Dialog
      title={title}
      open={open}
      onClose={close}
      actions={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button kind="primary" type="submit" form={form} busy={busy}>
            {submitLabel}
          </Button>
        </>
      }
    >
      <form id={form} noValidate onSubmit={submit}>
        <Field label="Name" error={problem} required>
          {(control) => (
            <Input
              {...control}
              // The name is the only field of the dialog.
              autoFocus
              maxLength={100}
              autoComplete="off"
              value={name}
              onFocus={(event) => event.target.select()}
              onChange={(event) => setTyped(event.target.value)}
            />
          )}
        </Field>
      </form>
    </Dialog>
  );
}
