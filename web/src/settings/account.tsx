import { useQueryClient } from '@tanstack/react-query';
import { LogOut, UserRound } from 'lucide-react';
import type { ReactNode } from 'react';
import { useAbout } from '@/api/about';
import { type Credential, signOut, useIdentity } from '@/api/identity';
import { readToken } from '@/api/token';
import { clearUserData } from '@/sign-in/clear-user-data';
import { Button } from '@/ui/buttons/button';
import { Failure, Loading } from '@/ui/page/states';
import { when } from '@/ui/text/format';
import { Facts, Section } from './section';

const STORAGE: [string, string] = ['Stored', 'Until you close this tab'];

/** The signed-in user, and the sign-out button. */
export function Account() {
  const { credential } = useIdentity();
  const client = useQueryClient();

  function leave() {
    signOut();
    clearUserData();
    client.resetQueries();
  }

  return (
    <Section
      id="account"
      title="Account"
      actions={
        credential && (
          <Button icon={<LogOut aria-hidden className="size-4" />} onClick={leave}>
            Sign out
          </Button>
        )
      }
    >
      {credential ? <SignedIn credential={credential} /> : <NotSignedIn />}
    </Section>
  );
}

function SignedIn({ credential }: { credential: Credential }) {
  if (credential.kind === 'api_key') return <Facts facts={[['Signed in with', 'API key'], STORAGE]} />;
  const { subject, name, expires } = readToken(credential.value);
  const facts: [string, ReactNode][] = [['Signed in as', name ?? subject ?? 'Token']];
  if (name && subject) facts.push(['Identity', <code key="subject">{subject}</code>]);
  if (expires) facts.push(['Valid until', when(expires)]);
  return <Facts facts={[...facts, STORAGE]} />;
}

function NotSignedIn() {
  const about = useAbout();
  if (about.isPending) return <Loading label="Loading account" rows={1} height="h-10" />;
  if (about.isError) return <Failure error={about.error} onRetry={() => about.refetch()} />;
  const isLocal = about.data.auth_mode === 'local';
  return (
    <div className="flex items-center gap-3 text-sm">
      <span className="grid size-10 shrink-0 place-items-center rounded-full bg-accent-soft text-accent">
        <UserRound aria-hidden className="size-5" />
      </span>
      <div>
        <p className="font-medium">{isLocal ? 'Local user' : 'Guest'}</p>
        <p className="text-muted">
          {isLocal
            ? 'Sign-in is off. Anyone with access to this machine uses this account.'
            : "You're a guest. Anything you create isn't tied to an account."}
        </p>
      </div>
    </div>
  );
}
