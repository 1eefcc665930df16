import { type ClipboardEvent, type KeyboardEvent, useRef } from 'react';
import { Input } from '../form/field';
import { nonEmptyLines } from './draft';
import { AddRow, RemoveRow } from './row-buttons';

type Props = {
  of: 'text' | 'number' | 'integer';
  label: string;
  entries: string[];
  disabled?: boolean;
  onChange: (entries: string[]) => void;
};

/** A list of short values. Enter adds an entry; pasted lines become separate entries. */
export function ListControl({ of, label, entries, disabled, onChange }: Props) {
  const list = useRef<HTMLDivElement>(null);

  function addAfter(index: number) {
    onChange(entries.toSpliced(index + 1, 0, ''));
    // The new input exists after the next render.
    requestAnimationFrame(() => list.current?.querySelectorAll('input')[index + 1]?.focus());
  }

  function paste(event: ClipboardEvent, index: number) {
    const pasted = nonEmptyLines(event.clipboardData.getData('text'));
    if (pasted.length < 2) return;
    event.preventDefault();
    onChange(entries.toSpliced(index, entries[index] ? 0 : 1, ...pasted));
  }

  function onKey(event: KeyboardEvent, index: number) {
    if (event.key !== 'Enter' || event.nativeEvent.isComposing) return;
    event.preventDefault();
    addAfter(index);
  }

  return (
    <div ref={list} className="flex flex-col gap-2">
      {entries.map((entry, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an entry is its place.
        <div key={index} className="flex items-center gap-2">
          <Input
            aria-label={`${label}, entry ${index + 1}`}
            inputMode={of === 'text' ? undefined : of === 'integer' ? 'numeric' : 'decimal'}
            value={entry}
            disabled={disabled}
            onChange={(event) => onChange(entries.with(index, event.target.value))}
            onPaste={(event) => paste(event, index)}
            onKeyDown={(event) => onKey(event, index)}
          />
          <RemoveRow
            label={`Remove entry ${index + 1}`}
            disabled={disabled}
            onClick={() => onChange(entries.toSpliced(index, 1))}
          />
        </div>
      ))}
      <AddRow label="Add entry" disabled={disabled} onClick={() => addAfter(entries.length - 1)} />
    </div>
  );
}
