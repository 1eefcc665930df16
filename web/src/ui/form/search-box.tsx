import { Search, X } from 'lucide-react';
import { useRef } from 'react';
import { IconButton } from '../buttons/button';
import { classes } from '../classes';
import { Input } from './field';

type Props = { label: string; value: string; onChange: (value: string) => void; className?: string };

/** A search field. Escape clears it. */
export function SearchBox({ label, value, onChange, className }: Props) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <search className={classes('relative', className)}>
      <Search
        aria-hidden
        className="pointer-events-none absolute top-1/2 left-3 size-4 -translate-y-1/2 text-muted"
      />
      <Input
        ref={input}
        type="text"
        inputMode="search"
        enterKeyHint="search"
        aria-label={label}
        placeholder="Search"
        value={value}
        className="h-10 pr-10 pl-9"
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape' || !value) return;
          event.preventDefault();
          onChange('');
        }}
      />
      {value && (
        <IconButton
          label="Clear search"
          className="absolute top-0.5 right-0.5"
          onClick={() => {
            onChange('');
            input.current?.focus();
          }}
        >
          <X className="size-4" />
        </IconButton>
      )}
    </search>
  );
}
