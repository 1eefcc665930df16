// Why a turn failed, as the stream and the history say it: `[code:idle_timeout] The model said nothing.`

export type Failure = { code: string | null; message: string };

export function failureOf(text: string): Failure {
  const found = /^\[code:([a-z0-9_]+)\]\s*(.*)$/is.exec(text.trim());
  if (!found) return { code: null, message: text.trim() || 'The turn failed without saying why.' };
  return { code: found[1] ?? null, message: found[2] || 'The turn failed without saying why.' };
}
