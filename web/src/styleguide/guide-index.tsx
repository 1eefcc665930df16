import type { MouseEvent } from 'react';
import { anchorOf, RESPONSE_TYPES } from './responses';

const CHAPTERS = [
  ['foundations', 'Colors and type'],
  ['primitives', 'Primitives'],
  ['messages', 'Messages'],
  ['waiting', 'Waiting'],
  ['calls', 'Calls'],
  ['responses', 'Tool responses'],
] as const;

const LINK =
  'flex min-h-8 items-center rounded-lg px-2 text-muted hover:bg-sunken hover:text-ink pointer-coarse:min-h-10';

/** Table of contents of the style guide. */
export function GuideIndex() {
  return (
    <nav
      aria-label="Style guide contents"
      className="shrink-0 text-sm lg:sticky lg:top-0 lg:max-h-[calc(100dvh-4rem)] lg:w-60 lg:self-start lg:overflow-y-auto"
    >
      <ul className="grid grid-cols-2 sm:grid-cols-3 lg:grid-cols-1">
        {CHAPTERS.map(([id, title]) => (
          <li key={id}>
            <a href={`#${id}`} onClick={jump} className={`${LINK} font-medium text-ink`}>
              {title}
            </a>
          </li>
        ))}
      </ul>
      <details className="mt-2 lg:hidden">
        <summary className={LINK}>All responses</summary>
        <ResponseLinks />
      </details>
      <div className="hidden lg:block">
        <ResponseLinks />
      </div>
    </nav>
  );
}

function ResponseLinks() {
  return (
    <ul className="grid grid-cols-2 font-mono text-xs sm:grid-cols-3 lg:grid-cols-1 lg:pl-2">
      {RESPONSE_TYPES.map((type) => (
        <li key={type} className="min-w-0">
          <a href={`#${anchorOf(type)}`} onClick={jump} className={`${LINK} break-all`}>
            {type}
          </a>
        </li>
      ))}
    </ul>
  );
}

/** Scrolls by script: the page has a `<base>`, so a plain `#` link would lead to another page. */
function jump(event: MouseEvent<HTMLAnchorElement>): void {
  event.preventDefault();
  const target = document.getElementById(event.currentTarget.hash.slice(1));
  target?.scrollIntoView({ behavior: 'smooth', block: 'start' });
  target?.querySelector<HTMLElement>('h2, h3')?.focus({ preventScroll: true });
}
