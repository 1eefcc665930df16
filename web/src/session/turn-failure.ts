// Parses the failure text used by the stream and the history: `[code:idle_timeout] The model stopped responding.`

export type TurnFailure = { code: string | null; message: string };

export function parseFailure(text: string): TurnFailure {
  const found = /^\[code:([a-z0-9_]+)\]\s*(.*)$/is.exec(text.trim());
  if (!found) return { code: null, message: text.trim() || 'Something went wrong, and no reason was given.' };
  return { code: found[1] ?? null, message: found[2] || 'Something went wrong, and no reason was given.' };
}
