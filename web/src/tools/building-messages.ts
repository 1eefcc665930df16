// Messages that the cards about building agents send to the chat in the user's name.

export function saveMessage(agentName: string): string {
  return `Save the agent “${agentName}”.`;
}

/** Repeats what was asked for, if the call was made from words. */
export function tryAgainMessage(goal: string | null): string {
  return goal ? `Try again: ${goal}` : 'Try again.';
}

export function buildPlanMessage(goal: string): string {
  return `Build an agent for this goal: ${goal.trim()}`;
}
