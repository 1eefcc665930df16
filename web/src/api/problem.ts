// One error type for error responses and for requests that failed to reach the server.

import { asRecord } from '@/lib/json';

/** A request that failed. `status` is 0 when there was no response. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly retryAfterSeconds: number | null = null,
    /** The whole body, for routes that return more than a message. */
    readonly body: unknown = undefined,
  ) {
    super(message);
    this.name = 'ApiError';
  }

  get isOffline(): boolean {
    return this.status === 0;
  }
}

export const OFFLINE = "Can't reach the server.";

/** Reads `{detail, code}`, also when nested under `detail`. */
export function problemOf(status: number, body: unknown, headers: Headers): ApiError {
  const outer = asRecord(body);
  const inner = asRecord(outer.detail);
  const detail = text(outer.detail) ?? text(inner.message) ?? text(inner.detail);
  const code = text(outer.code) ?? text(inner.code) ?? `HTTP_${status}`;
  const retryAfter = Number(headers.get('retry-after'));
  return new ApiError(
    status,
    code,
    detail ?? `The server responded with status ${status}.`,
    Number.isFinite(retryAfter) && retryAfter > 0 ? retryAfter : null,
    body,
  );
}

/** Whether the server responded that there is no such thing. */
export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}

/** The message to show for anything that was thrown. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
