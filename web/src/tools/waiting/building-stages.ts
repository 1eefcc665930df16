// The stages in which an agent is made from words, as the stream of the operation reports them.

import { asRecord, parseJson } from '@/lib/json';

/** The stages in order. A repair is not one of them: most agents need none. */
export const STAGES = {
  understanding: 'Understanding the goal',
  planning: 'Planning',
  writing: 'Writing the agent',
  checking: 'Checking',
  rehearsing: 'Rehearsing',
  saving: 'Saving',
} as const;

export type Stage = keyof typeof STAGES;

export type BuildingProgress = {
  /** The current stage. A repair counts as writing. */
  stage: Stage;
  /** What happens now, for people. */
  label: string;
  detail: string | null;
};

const BUILDING_TOOLS = ['create_agent', 'edit_agent', 'customize_agent'];

/** Whether operations of this tool report stages. */
export function hasStages(tool: string): boolean {
  return BUILDING_TOOLS.includes(tool);
}

/** The progress in an event of the operation's stream; null for other events. */
export function progressOfEvent(data: string): BuildingProgress | null {
  const { type, preliminary, output } = asRecord(parseJson(data));
  return type === 'tool-output-available' && preliminary === true ? progressOfOutput(output) : null;
}

/** The progress in a preliminary output of a call; null if it is something else. */
export function progressOfOutput(output: unknown): BuildingProgress | null {
  const { type, stage, detail, round } = asRecord(output);
  if (type !== 'agent_progress' || typeof stage !== 'string') return null;
  // A plan has a line for each step; there is room for one line.
  const lines = typeof detail === 'string' ? detail.split('\n').map((line) => line.trim()) : [];
  const more = lines.filter(Boolean).join(', ') || null;
  if (stage === 'repairing') {
    const attempt = typeof round === 'number' && round > 1 ? ` (attempt ${round})` : '';
    return { stage: 'writing', label: `Repairing the agent${attempt}`, detail: more };
  }
  if (!Object.hasOwn(STAGES, stage)) return null;
  return { stage: stage as Stage, label: STAGES[stage as Stage], detail: more };
}
