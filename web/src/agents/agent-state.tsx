// How far an agent has been checked, in words.

import type { AgentState } from '@/protocol';
import { Badge, type Tone } from '@/ui/feedback/badge';

const STATES: Record<AgentState, { label: string; tone: Tone; hint: string | null }> = {
  draft: { label: 'Has errors', tone: 'bad', hint: "The agent can't run until its errors are fixed." },
  valid: {
    label: 'Valid, not ready yet',
    tone: 'accent',
    hint: 'The agent has no errors, but no rehearsal has filled all of its outputs yet.',
  },
  rehearsed: { label: 'Ready, rehearsed', tone: 'good', hint: null },
  verified: { label: 'Ready, verified', tone: 'good', hint: null },
  needs_setup: {
    label: 'Needs setup',
    tone: 'warn',
    hint: 'The agent needs credentials or other setup before it can run.',
  },
  not_verifiable: {
    label: "Can't be rehearsed",
    tone: 'warn',
    hint: "A rehearsal can't run this agent to its end, so its outputs are unproven.",
  },
  blocked: {
    label: 'Blocked',
    tone: 'bad',
    hint: "The agent needs blocks or agents that this server doesn't have, or the same failure came back after a repair.",
  },
};

export function AgentStateBadge({ state }: { state: AgentState }) {
  const { label, tone } = STATES[state] ?? { label: String(state), tone: 'neutral' };
  return <Badge tone={tone}>{label}</Badge>;
}

/** What keeps the agent from being ready to use; nothing if it is. */
export function AgentStateHint({ state }: { state: AgentState }) {
  const hint = STATES[state]?.hint;
  return hint ? <p className="text-muted">{hint}</p> : null;
}
