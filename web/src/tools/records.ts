// Reading what came from a tool, which may be anything.

/** The same value where it is an object, and an empty one where it is not. */
export function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

/** Some keep their answers as text. */
export function parsed(output: unknown): unknown {
  if (typeof output !== 'string' || !/^\s*[{[]/.test(output)) return output;
  try {
    return JSON.parse(output);
  } catch {
    return output;
  }
}
