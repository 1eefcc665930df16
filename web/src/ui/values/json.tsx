/** Formatted JSON, truncated so that a huge value doesn't stall the page. */
export function Json({ value, limit = 20_000 }: { value: unknown; limit?: number }) {
  const text = typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? 'undefined');
  const cut = text.length > limit;
  return (
    // Scrollable content must be focusable by keyboard.
    <pre
      tabIndex={0}
      className="max-h-80 overflow-auto rounded-lg bg-sunken p-3 font-mono text-xs whitespace-pre-wrap break-words"
    >
      {cut ? `${text.slice(0, limit)}\n… ${text.length - limit} more characters` : text}
    </pre>
  );
}
