import type { Credential } from '@/api/identity';
import { readToken } from '@/api/token';
import { forgetDrafts } from '@/copilot/composer/drafts';
import { forgetAll } from '@/session/registry';
import { clearCardState } from '@/tools/card-state';

/** What was read and written here belongs to whoever has left. */
export function forgetPerson(): void {
  forgetAll();
  forgetDrafts();
  clearCardState();
}

/** Whether two credentials are surely one person's: a token that was renewed keeps what was written. */
export function isSamePerson(one: Credential | null, other: Credential): boolean {
  if (!one) return false;
  if (one.value === other.value) return true;
  if (one.kind !== 'token' || other.kind !== 'token') return false;
  const { subject } = readToken(one.value);
  return subject !== null && subject === readToken(other.value).subject;
}
