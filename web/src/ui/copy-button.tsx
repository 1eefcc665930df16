import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import { IconButton } from './button';
import { say } from './toast';

const SAID_MS = 2_000;

/** Copies a text, and says that it did. */
export function CopyButton({
  text,
  label = 'Copy',
  className,
}: {
  text: string;
  label?: string;
  className?: string;
}) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), SAID_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    // What is only read out is placed in this box: elsewhere it would lengthen whatever scrolls.
    <span className="relative inline-flex">
      <IconButton
        label={label}
        className={className}
        onClick={async () => {
          if (await copy(text)) setCopied(true);
          else say('The browser does not allow copying here. Select the text instead.', 'bad');
        }}
      >
        {copied ? <Check className="size-4 text-good" /> : <Copy className="size-4" />}
      </IconButton>
      <span role="status" className="sr-only">
        {copied ? 'Copied' : ''}
      </span>
    </span>
  );
}

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelecting(text);
  }
}

/** The clipboard is closed to pages that came over plain HTTP from another machine; this old way is not. */
function copyBySelecting(text: string): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  area.style.position = 'fixed';
  area.style.opacity = '0';
  const focused = document.activeElement;
  // Inside a modal window everything outside it cannot be selected.
  const place = focused?.closest('dialog') ?? document.body;
  place.append(area);
  area.select();
  try {
    return document.execCommand('copy');
  } finally {
    area.remove();
    if (focused instanceof HTMLElement) focused.focus();
  }
}
