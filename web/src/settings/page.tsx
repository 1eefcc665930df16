import { Link } from '@tanstack/react-router';
import type { ComponentType } from 'react';
import { useAbout } from '@/api/about';
import { Page } from '@/ui/page';
import { Account } from './account';
import { ApiKeys } from './api-keys';
import { Appearance } from './appearance';
import { Credits } from './credits';
import { Server } from './server';
import { Shortcuts } from './shortcuts';
import { Usage } from './usage';

type Place = { id: string; title: string; Part: ComponentType };

const BEFORE_CREDITS: Place[] = [
  { id: 'account', title: 'Account', Part: Account },
  { id: 'appearance', title: 'Appearance', Part: Appearance },
  { id: 'server', title: 'Model and server', Part: Server },
  { id: 'usage', title: 'Usage', Part: Usage },
];
const CREDITS: Place = { id: 'credits', title: 'Credits', Part: Credits };
const AFTER_CREDITS: Place[] = [
  { id: 'api-keys', title: 'API keys', Part: ApiKeys },
  { id: 'shortcuts', title: 'Keyboard shortcuts', Part: Shortcuts },
];

export function SettingsPage() {
  const { data: about } = useAbout();
  const places = [...BEFORE_CREDITS, ...(about?.credits_enabled ? [CREDITS] : []), ...AFTER_CREDITS];
  return (
    <Page title="Settings">
      <div className="grid gap-6 lg:grid-cols-[11rem_minmax(0,1fr)]">
        <nav aria-label="Settings" className="min-w-0">
          <ul className="flex flex-wrap gap-1 text-sm lg:sticky lg:top-6 lg:flex-col lg:gap-0.5">
            {places.map(({ id, title }) => (
              <li key={id}>
                <Link
                  to="/settings"
                  hash={id}
                  activeOptions={{ includeHash: true }}
                  className="block rounded-lg border border-line px-3 py-2 text-muted lg:border-0 hover:bg-sunken hover:text-ink aria-[current=page]:bg-accent-soft aria-[current=page]:text-accent"
                >
                  {title}
                </Link>
              </li>
            ))}
          </ul>
        </nav>
        <div className="flex min-w-0 flex-col gap-6">
          {places.map(({ id, Part }) => (
            <Part key={id} />
          ))}
        </div>
      </div>
    </Page>
  );
}
