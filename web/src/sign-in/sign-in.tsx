import { useQueryClient } from '@tanstack/react-query';
import { KeyRound } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { useAbout } from '@/api/about';
import { signIn, signOut, useIdentity } from '@/api/identity';
import { Button } from '@/ui/buttons/button';
import { Field, Input } from '@/ui/form/field';
import { useTitle } from '@/ui/page/page';
import { checkCredential, credentialOf, signInErrorMessage } from './check-credential';
import { clearUserData, isSameUser } from './clear-user-data';

/** Asks for a token or API key, and checks it with the server before using it. */
export function SignIn() {
  useTitle('Sign in');
  const { credential } = useIdentity();
  const about = useAbout().data;
  const client = useQueryClient();
  const [text, setText] = useState('');
  const [error, setError] = useState<string | null>(null);
  const [trying, setTrying] = useState(false);
  const canSkip = about?.allow_anonymous || about?.auth_mode === 'local';

  async function submit(event: FormEvent) {
    event.preventDefault();
    const given = credentialOf(text);
    if (!given.value) return setError('Paste a token or API key.');
    setTrying(true);
    setError(null);
    try {
      await checkCredential(given);
      if (!isSameUser(credential, given)) clearUserData();
      client.clear();
      signIn(given);
    } catch (refused) {
      setError(signInErrorMessage(refused, given));
    } finally {
      setTrying(false);
    }
  }

  return (
    <div className="flex h-full flex-col items-center overflow-y-auto px-4 py-10">
      <div className="my-auto flex w-full max-w-sm flex-col gap-6">
        <header className="flex flex-col items-center gap-3 text-center">
          <img src="./icon.svg" alt="" className="size-12" />
          <h1 className="text-2xl font-semibold tracking-tight">Sign in</h1>
          <p className="text-sm text-muted">
            {credential ? 'Your sign-in has expired or was revoked. Sign in again.' : 'Sign in to continue.'}
          </p>
        </header>
        <form
          onSubmit={submit}
          noValidate
          className="flex flex-col gap-4 rounded-2xl border border-line bg-surface p-5 shadow-card"
        >
          <Field
            label="Token or API key"
            error={error}
            hint="Ask your administrator for one. It's kept only until you close this tab."
          >
            {(control) => (
              <Input
                {...control}
                type="password"
                autoComplete="off"
                spellCheck={false}
                value={text}
                onChange={(event) => {
                  setText(event.target.value);
                  setError(null);
                }}
                className="font-mono"
              />
            )}
          </Field>
          <Button
            kind="primary"
            type="submit"
            busy={trying}
            icon={<KeyRound aria-hidden className="size-4" />}
          >
            {trying ? 'Signing in…' : 'Sign in'}
          </Button>
          {canSkip && (
            <Button kind="quiet" onClick={signOut}>
              Continue without signing in
            </Button>
          )}
          <p role="alert" className="sr-only">
            {error}
          </p>
        </form>
      </div>
    </div>
  );
}
