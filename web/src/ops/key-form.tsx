import { KeyRound } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { Button } from '@/ui/button';
import { Field, Input } from '@/ui/field';
import { setInternalKey } from './internal-key';

/** Asks for the key of those who run the server. */
export function KeyForm({ wasRefused }: { wasRefused: boolean }) {
  const [key, setKey] = useState('');

  function submit(event: FormEvent) {
    event.preventDefault();
    setInternalKey(key.trim());
  }

  return (
    <form
      onSubmit={submit}
      className="mx-auto flex w-full max-w-md flex-col gap-4 rounded-2xl border border-line bg-surface p-6"
    >
      <div className="flex items-center gap-3">
        <KeyRound aria-hidden className="size-5 text-accent" />
        <h2 className="font-semibold">For those who run this server</h2>
      </div>
      <Field
        label="Internal key"
        hint="The value of CHAT_INTERNAL_API_KEY. It is kept until the page is reloaded."
        error={wasRefused ? 'The server does not take this key.' : null}
      >
        {(control) => (
          <Input
            {...control}
            type="password"
            autoComplete="off"
            value={key}
            onChange={(event) => setKey(event.target.value)}
          />
        )}
      </Field>
      <Button type="submit" kind="primary" disabled={!key.trim()}>
        Open
      </Button>
    </form>
  );
}
