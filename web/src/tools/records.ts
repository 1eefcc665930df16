// Reads tool output, which may have any shape.

/** The value itself if it is an object, otherwise an empty object. */
export function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

/** Parses output that was stored as JSON text. */
export function parseJson(output: unknown): unknown {
  if (typeof output !== 'string' || !/^\s*[{[]/.test(output)) return output;
  try {
    return JSON.parse(output);
  } catch {
    return output;
  }
}
