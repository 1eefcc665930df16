import type { Credential } from '@/api/identity';
import { readToken } from '@/api/token';
import { clearDrafts } from '@/copilot/composer/drafts';
import { clearSpecDrafts } from '@/graph/spec/spec-drafts';
import { discardAllSessions } from '@/session/registry';
import { clearCardState } from '@/tools/card-state';

/** Clears everything this tab keeps for the signed-in user. */
export function clearUserData(): void {
  discardAllSessions();
  clearDrafts();
  clearSpecDrafts();
  clearCardState();
}

/** Whether two credentials certainly belong to one user. After renewing a token, drafts are kept. */
export function isSameUser(one: Credential | null, other: Credential): boolean {
  if (!one) return false;
  if (one.value === other.value) return true;
  if (one.kind !== 'token' || other.kind !== 'token') return false;
  const { subject } = readToken(one.value);
  return subject !== null && subject === readToken(other.value).subject;
}
