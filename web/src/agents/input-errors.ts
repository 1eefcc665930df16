// The inputs that a start of an agent was refused for.

import { ApiError } from '@/api/problem';

/** Error messages by input name. `null` if the error is not about inputs. */
export function inputErrors(error: unknown): Record<string, string> | null {
  const body = error instanceof ApiError ? (error.body as { inputs?: unknown } | undefined) : undefined;
  const problems = body?.inputs as { missing?: unknown; unknown?: unknown; wrong?: unknown } | undefined;
  if (!problems || typeof problems !== 'object') return null;
  return Object.fromEntries([
    ...names(problems.missing).map((name) => [name, 'Required.']),
    ...names(problems.unknown).map((name) => [name, 'The agent has no input with this name.']),
    ...pairs(problems.wrong),
  ]);
}

function names(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function pairs(value: unknown): [string, string][] {
  if (!Array.isArray(value)) return [];
  return value.filter(Array.isArray).map(([name, why]) => [String(name), sentence(String(why))]);
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.?]$/.test(text) ? '' : '.'}`;
}
