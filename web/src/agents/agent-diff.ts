// The difference of two agents as lines of text, and what it means for those who use the agent.

import { asRecord } from '@/lib/json';
import type { AgentCost, AgentDiff, AgentUse, FieldsDiff, InterfaceField, StepEffect } from '@/protocol';
import { amount } from '@/ui/text/format';
import type { DiffSign, SignedLine } from './diff-lines';

/** Something that follows from a change. `warn` needs attention before the change is used. */
export type Consequence = { tone: 'warn' | 'neutral'; text: string };

/** One line per change: of the steps, their links, and the inputs and outputs. */
export function changeLines({ about, steps, links, interface: fields }: AgentDiff): SignedLine[] {
  return [
    ...about.map(({ field, from, to }) => line('~', `${field}: ${json(from)} → ${json(to)}`)),
    ...steps.added.flatMap(({ step, block, pins }) => [
      line('+', `step ${step}: ${block}`),
      ...pins.map(({ pin, value }) => detail('+', `${pin}: ${json(value)}`)),
    ]),
    ...steps.removed.map(({ step, block }) => line('-', `step ${step}: ${block}`)),
    ...steps.renamed.map(({ from, to }) => line('~', `step ${from} is now ${to}`)),
    ...steps.changed.flatMap(({ step, block, pins }) => [
      ...(block ? [line('~', `step ${step}: ${block.from} → ${block.to}`)] : []),
      ...pins.map(({ pin, from, to }) => line('~', `${step}.${pin}: ${json(from)} → ${json(to)}`)),
    ]),
    ...links.added.map(({ from, to }) => line('+', `link ${from} → ${to}`)),
    ...links.removed.map(({ from, to }) => line('-', `link ${from} → ${to}`)),
    ...fieldLines('input', fields.inputs),
    ...fieldLines('output', fields.outputs),
  ];
}

/** What the change means: new effects and credentials, a changed interface, the cost, and who uses the agent. */
export function consequences(diff: AgentDiff): Consequence[] {
  const { effects, credentials, interface: fields, cost, used_by } = diff;
  return [
    ...effects.added.map((effect) => warn(`New effect outside this server: ${effectText(effect)}.`)),
    ...effects.removed.map((effect) =>
      note(`No longer an effect outside this server: ${effectText(effect)}.`),
    ),
    ...credentials.added.map(({ provider, steps }) =>
      warn(`Needs credentials for ${provider} (${steps.join(', ')}).`),
    ),
    ...credentials.removed.map(({ provider }) => note(`No longer needs credentials for ${provider}.`)),
    ...(fields.inputs.breaking ? [warn('The inputs no longer fit those who run the agent as it was.')] : []),
    ...(fields.outputs.breaking
      ? [warn('The outputs no longer fit those who use the agent as it was.')]
      : []),
    ...(costText(cost.from) === costText(cost.to)
      ? []
      : [note(`A run costs ${costText(cost.to)}, before ${costText(cost.from)}.`)]),
    ...(hasChanges(diff) ? used_by.map((use) => note(useText(use))) : []),
  ];
}

export function hasChanges(diff: AgentDiff): boolean {
  return changeLines(diff).length > 0;
}

function fieldLines(kind: string, { added, removed, changed }: FieldsDiff): SignedLine[] {
  return [
    ...added.map((field) => line('+', `${kind} ${field.name}: ${described(field)}`)),
    ...removed.map((field) => line('-', `${kind} ${field.name}: ${described(field)}`)),
    ...changed.flatMap(({ from, to }) => {
      const [before, after] = [described(from), described(to)];
      return [
        ...(from.name === to.name ? [] : [line('~', `${kind} ${from.name} is now ${to.name}`)]),
        ...(before === after ? [] : [line('~', `${kind} ${to.name}: ${before} → ${after}`)]),
        ...(from.name === to.name && before === after
          ? [line('~', `${kind} ${to.name}: described differently`)]
          : []),
      ];
    }),
  ];
}

/** The type of a field: "string, required", "number, 21 by default". */
function described({ schema, required }: InterfaceField): string {
  const { type, enum: choices, default: initial } = asRecord(schema);
  const types = Array.isArray(type) ? type.join(' or ') : typeof type === 'string' ? type : 'any value';
  return [
    choices === undefined ? types : `${types} of ${json(choices)}`,
    ...(initial === undefined || initial === null ? [] : [`${json(initial)} by default`]),
    ...(required ? ['required'] : []),
  ].join(', ');
}

function effectText({ step, block, sensitive }: StepEffect): string {
  return `${step} (${block})${sensitive ? ', which may need approval' : ''}`;
}

function costText({ credits, is_minimum }: AgentCost): string {
  return `${is_minimum ? 'at least ' : ''}${amount(credits, 'credit')}`;
}

function useText({ kind, name, version }: AgentUse): string {
  const user = `${kind === 'schedule' ? 'The schedule' : 'The agent'} “${name}”`;
  return version ? `${user} keeps using version ${version}.` : `${user} will use this version.`;
}

function line(sign: DiffSign, text: string): SignedLine {
  return { sign, text: `${sign} ${text}` };
}

/** A line that belongs to the one before it. */
function detail(sign: DiffSign, text: string): SignedLine {
  return { sign, text: `    ${text}` };
}

function warn(text: string): Consequence {
  return { tone: 'warn', text };
}

function note(text: string): Consequence {
  return { tone: 'neutral', text };
}

function json(value: unknown): string {
  return value === undefined ? 'nothing' : (JSON.stringify(value) ?? 'nothing');
}
