import { Search } from 'lucide-react';
import type { KeyboardEvent, RefObject } from 'react';
import { Input } from '@/ui/form/field';

type Props = {
  ref: RefObject<HTMLInputElement | null>;
  query: string;
  onChange: (query: string) => void;
};

/** Searches sessions by title. Arrow Down moves the focus into the list. */
export function SearchField({ ref, query, onChange }: Props) {
  function onKeyDown(event: KeyboardEvent<HTMLInputElement>) {
    if (event.key === 'Escape' && query !== '') {
      // The first Escape clears the field; only the next one may close the surrounding drawer.
      event.preventDefault();
      onChange('');
    }
    if (event.key === 'ArrowDown') {
      event.preventDefault();
      event.currentTarget.closest('nav')?.querySelector<HTMLElement>('[data-session]')?.focus();
    }
  }
  return (
    <div className="group relative">
      <Search aria-hidden className="absolute top-1/2 left-3 size-4 -translate-y-1/2 text-muted" />
      <Input
        ref={ref}
        type="search"
        aria-label="Search chats"
        aria-keyshortcuts="Control+K Meta+K"
        placeholder="Search chats"
        value={query}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={onKeyDown}
        className="pr-3 pl-9 pointer-coarse:min-h-11"
      />
      {query === '' && (
        <kbd
          aria-hidden
          className="pointer-events-none absolute top-1/2 right-3 -translate-y-1/2 font-sans text-xs text-muted group-focus-within:hidden pointer-coarse:hidden"
        >
          {/Mac|iP(hone|ad)/.test(navigator.platform) ? '⌘K' : 'Ctrl K'}
        </kbd>
      )}
    </div>
  );
}
