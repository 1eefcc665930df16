import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import { showToast } from '../feedback/toast';
import { IconButton } from './button';

const CONFIRMATION_MS = 2_000;

/** Copies a text and confirms it. */
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
    const timer = setTimeout(() => setCopied(false), CONFIRMATION_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    // The positioned wrapper keeps the screen reader text inside: elsewhere it would extend the scrollable area.
    <span className="relative inline-flex">
      <IconButton
        label={label}
        className={className}
        onClick={async () => {
          if (await copy(text)) setCopied(true);
          else
            showToast("Your browser doesn't allow copying here. Select the text and copy it instead.", 'bad');
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

/** The Clipboard API isn't available on pages served over plain HTTP from another machine; `execCommand` is. */
function copyBySelecting(text: string): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  area.style.position = 'fixed';
  area.style.opacity = '0';
  const focused = document.activeElement;
  // While a modal dialog is open, nothing outside it can be selected.
  const container = focused?.closest('dialog') ?? document.body;
  container.append(area);
  area.select();
  try {
    return document.execCommand('copy');
  } finally {
    area.remove();
    if (focused instanceof HTMLElement) focused.focus();
  }
}
