// The pages for an unknown URL and for a page that crashed.

import { Link } from '@tanstack/react-router';
import { Compass } from 'lucide-react';
import { buttonClasses } from '@/ui/buttons/button';
import { Page } from '@/ui/page/page';
import { Empty, Failure } from '@/ui/page/states';

export function NotFoundPage() {
  return (
    <Page title="Page not found">
      <Empty
        icon={<Compass />}
        title="The link may be broken, or the page may have been removed."
        action={
          <Link to="/copilot" className={buttonClasses('primary')}>
            Back to Copilot
          </Link>
        }
      />
    </Page>
  );
}

export function CrashedPage({ error }: { error: unknown }) {
  return (
    <Page title="Something went wrong on this page">
      <Failure error={error} onRetry={() => location.reload()} />
    </Page>
  );
}
