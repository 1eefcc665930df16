// Reads JSON whose shape is not known.

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value itself if it is an object, otherwise an empty object. */
export function asRecord(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}

/** The value of a JSON text, or `fallback` if it is not valid JSON. */
export function parseJson(text: string, fallback?: unknown): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return fallback;
  }
}
