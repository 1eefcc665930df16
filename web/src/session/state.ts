// The state of a session apart from its messages, as one immutable value.

import type { FollowUpChip, Phase, SessionHandle } from './types';

export type SessionState = {
  id: string | null;
  title: string | null;
  parentId: string | null;
  phase: Phase;
  slow: boolean;
  status: string | null;
  busySince: number | null;
  loadError: unknown;
  error: SessionHandle['error'];
  followUps: FollowUpChip[];
  hasOlder: boolean;
  loadingOlder: boolean;
};

export function newState(id: string | null): SessionState {
  return {
    id,
    title: null,
    parentId: null,
    phase: id ? 'loading' : 'ready',
    slow: false,
    status: null,
    busySince: null,
    loadError: null,
    error: null,
    followUps: [],
    hasOlder: false,
    loadingOlder: false,
  };
}

export function isBusy(phase: Phase): boolean {
  return phase !== 'ready' && phase !== 'loading';
}
