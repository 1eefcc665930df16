import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { Activity, Library, MessagesSquare, Settings, Store, UserCheck } from 'lucide-react';
import { useIdentity } from '@/api/identity';
import { ReviewCount } from '@/reviews/review-count';
import { SignIn } from '@/sign-in/sign-in';

/** Phones only have room for the short labels. */
const NAV_LINKS = [
  { to: '/copilot', label: 'Copilot', short: 'Copilot', Icon: MessagesSquare },
  { to: '/library', label: 'Library', short: 'Library', Icon: Library },
  { to: '/marketplace', label: 'Marketplace', short: 'Market', Icon: Store },
  { to: '/reviews', label: 'Reviews', short: 'Reviews', Icon: UserCheck },
  { to: '/ops', label: 'Operations', short: 'Ops', Icon: Activity },
  { to: '/settings', label: 'Settings', short: 'Settings', Icon: Settings },
] as const;

/** The frame of every page: the navigation, and the sign-in form when it is needed. */
export function Shell() {
  const { wanted } = useIdentity();
  // Operators have a separate key, which the operations page asks for itself.
  const isOperations = useLocation({ select: ({ pathname }) => pathname === '/ops' });
  return (
    <div className="flex h-dvh flex-col-reverse sm:flex-row">
      {/* Not a link: the browser would resolve its URL against `<base>` and leave this page. */}
      <button
        type="button"
        onClick={() => document.getElementById('content')?.focus()}
        className="sr-only focus:not-sr-only focus:absolute focus:top-2 focus:left-2 focus:z-50 focus:rounded-lg focus:bg-raised focus:px-3 focus:py-2"
      >
        Skip to content
      </button>
      <nav
        aria-label="Pages"
        className="flex shrink-0 items-center justify-around border-t border-line bg-surface pb-[env(safe-area-inset-bottom)] sm:w-24 sm:flex-col sm:justify-start sm:gap-1 sm:border-t-0 sm:border-r sm:py-3"
      >
        <img src="./icon.svg" alt="" className="mb-3 hidden size-9 sm:block" />
        {NAV_LINKS.map(({ to, label, short, Icon }) => (
          <Link
            key={to}
            to={to}
            className="relative flex min-w-0 flex-1 flex-col items-center gap-1 rounded-lg px-1 py-2 text-[0.68rem] text-muted hover:text-ink aria-[current=page]:text-accent sm:w-[5.5rem] sm:flex-none sm:hover:bg-sunken sm:aria-[current=page]:bg-accent-soft"
          >
            <Icon aria-hidden className="size-5" />
            <span aria-hidden className="max-w-full truncate sm:hidden">
              {short}
            </span>
            <span className="sr-only sm:not-sr-only">{label}</span>
            {to === '/reviews' && <ReviewCount />}
          </Link>
        ))}
      </nav>
      <main id="content" tabIndex={-1} className="relative min-h-0 min-w-0 flex-1 outline-none">
        {wanted && !isOperations ? <SignIn /> : <Outlet />}
      </main>
    </div>
  );
}
