import { Link, type LinkProps } from '@tanstack/react-router';
import { EXACT_MATCH } from './links';

type Props<Tab extends string> = {
  label: string;
  tabs: Record<Tab, string>;
  current: Tab;
  linkTo: (tab: Tab) => LinkProps;
};

/** Tabs of a page, each with its own URL. */
export function TabLinks<Tab extends string>({ label, tabs, current, linkTo }: Props<Tab>) {
  return (
    <nav
      aria-label={label}
      className="-mx-4 overflow-x-auto overflow-y-hidden border-b border-line px-4 sm:mx-0 sm:px-0"
    >
      <ul className="flex gap-1">
        {(Object.keys(tabs) as Tab[]).map((tab) => (
          <li key={tab}>
            <Link
              {...linkTo(tab)}
              aria-current={tab === current ? 'page' : undefined}
              activeOptions={EXACT_MATCH}
              className="-mb-px flex h-10 items-center border-b-2 border-transparent px-3 text-sm font-medium whitespace-nowrap text-muted hover:text-ink aria-[current=page]:border-accent aria-[current=page]:text-ink"
            >
              {tabs[tab]}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
