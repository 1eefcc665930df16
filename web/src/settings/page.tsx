import { Link } from '@tanstack/react-router';
import type { ComponentType } from 'react';
import { useAbout } from '@/api/about';
import { Page } from '@/ui/page/page';
import { Account } from './account';
import { ApiKeys } from './api-keys';
import { Appearance } from './appearance';
import { Credits } from './credits';
import { Server } from './server';
import { Shortcuts } from './shortcuts';
import { Usage } from './usage';

type SettingsSection = { id: string; title: string; Content: ComponentType };

const BEFORE_CREDITS: SettingsSection[] = [
  { id: 'account', title: 'Account', Content: Account },
  { id: 'appearance', title: 'Appearance', Content: Appearance },
  { id: 'server', title: 'Model and server', Content: Server },
  { id: 'usage', title: 'Usage', Content: Usage },
];
const CREDITS: SettingsSection = { id: 'credits', title: 'Credits', Content: Credits };
const AFTER_CREDITS: SettingsSection[] = [
  { id: 'api-keys', title: 'API keys', Content: ApiKeys },
  { id: 'shortcuts', title: 'Keyboard shortcuts', Content: Shortcuts },
];

export function SettingsPage() {
  const { data: about } = useAbout();
  const sections = [...BEFORE_CREDITS, ...(about?.credits_enabled ? [CREDITS] : []), ...AFTER_CREDITS];
  return (
    <Page title="Settings">
      <div className="grid gap-6 lg:grid-cols-[11rem_minmax(0,1fr)]">
        <nav aria-label="Settings" className="min-w-0">
          <ul className="flex flex-wrap gap-1 text-sm lg:sticky lg:top-6 lg:flex-col lg:gap-0.5">
            {sections.map(({ id, title }) => (
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
          {sections.map(({ id, Content }) => (
            <Content key={id} />
          ))}
        </div>
      </div>
    </Page>
  );
}
