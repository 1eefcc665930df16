// What is shown when an address leads nowhere, or a page has failed.

import { Link } from '@tanstack/react-router';
import { Compass } from 'lucide-react';
import { buttonClasses } from '@/ui/button';
import { Page } from '@/ui/page';
import { Empty, Failure } from '@/ui/states';

export function NotFound() {
  return (
    <Page title="Not found">
      <Empty
        icon={<Compass />}
        title="There is nothing at this address"
        action={
          <Link to="/copilot" className={buttonClasses('primary')}>
            Back to the copilot
          </Link>
        }
      />
    </Page>
  );
}

export function Broken({ error }: { error: unknown }) {
  return (
    <Page title="This page has failed">
      <Failure error={error} onRetry={() => location.reload()} />
    </Page>
  );
}
