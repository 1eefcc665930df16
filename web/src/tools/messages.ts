// Messages that cards send to the chat in the user's name. They are complete sentences, since users see them as their own.

import { parseJson } from '@/lib/json';

export type Answer = { question: string; answer: string };

/** A single answer is sent as it is; several are sent with their questions. */
export function answersMessage(answers: Answer[]): string {
  const answered = answers.filter(({ answer }) => answer.trim());
  const [first] = answered;
  if (answers.length === 1 && first) return first.answer.trim();
  return answered.map(({ question, answer }) => `${question.trim()}\n${answer.trim()}`).join('\n\n');
}

/** An agent or a block: the name people know and the id that tools take. */
export type Runnable = { what: 'agent' | 'block'; name: string; id: string };

export function runMessage(runnable: Runnable, inputs?: Record<string, unknown>): string {
  const named = `Run the ${runnable.what} ${title(runnable)}`;
  if (!inputs) return `${named}.`;
  if (Object.keys(inputs).length === 0) return `${named} with its defaults.`;
  const lines = Object.entries(inputs).map(([name, value]) => `${name}: ${inputText(value)}`);
  return `${named} with these inputs:\n${lines.join('\n')}`;
}

export function goalMessage(goal: string): string {
  return `Use this goal instead: ${goal.trim()}`;
}

export function keepGoalMessage(original: string | null | undefined): string {
  return original?.trim()
    ? `Keep my goal as it is: ${original.trim()}`
    : 'Keep my goal as it is, and do what you can.';
}

export function decidedMessage(blockName: string, reviewId: string, approved: boolean): string {
  return approved
    ? `I have approved ${blockName} (review ${reviewId}). Continue.`
    : `I have rejected ${blockName} (review ${reviewId}). Continue without it.`;
}

/** Plain text is written without quotes, any other value as JSON. */
function inputText(value: unknown): string {
  return typeof value === 'string' && isPlain(value) ? value : (JSON.stringify(value) ?? '');
}

/** Text that could be read as a number, a list or another JSON value is not plain: "007" must stay a string. */
function isPlain(text: string): boolean {
  if (text === '' || text.trim() !== text || /[\n"]/.test(text)) return false;
  return !/^([-+]?\.?\d|[[{])/.test(text) && parseJson(text) === undefined;
}

function title({ name, id }: Runnable): string {
  return name && name !== id ? `“${name}” (${id})` : id;
}
