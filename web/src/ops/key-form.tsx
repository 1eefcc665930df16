import { KeyRound } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { Button } from '@/ui/buttons/button';
import { Field, Input } from '@/ui/form/field';
import { setInternalKey } from './internal-key';

/** Form for the operator's internal API key. */
export function KeyForm({ wasRejected }: { wasRejected: boolean }) {
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
        <h2 className="font-semibold">Operator access</h2>
      </div>
      <Field
        label="Internal key"
        hint="The value of CHAT_INTERNAL_API_KEY. It's kept until you reload the page."
        error={wasRejected ? "That key isn't valid." : null}
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
        Continue
      </Button>
    </form>
  );
}
