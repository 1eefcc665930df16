import { Search } from 'lucide-react';
import type { KeyboardEvent, RefObject } from 'react';
import { Input } from '@/ui/field';

type Props = {
  ref: RefObject<HTMLInputElement | null>;
  words: string;
  onChange: (words: string) => void;
};

/** Looks for sessions by words of their titles. The arrow key goes on into the list. */
export function SearchField({ ref, words, onChange }: Props) {
  function onKeyDown(event: KeyboardEvent<HTMLInputElement>) {
    if (event.key === 'Escape' && words !== '') {
      // The first Escape empties the field; only the next may close the drawer around it.
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
        aria-label="Search sessions"
        aria-keyshortcuts="Control+K Meta+K"
        placeholder="Search sessions"
        value={words}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={onKeyDown}
        className="pr-3 pl-9 pointer-coarse:min-h-11"
      />
      {words === '' && (
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
