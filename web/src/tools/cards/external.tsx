// Card of the output of an operator's own tool, which may have any shape.

import { asRecord } from '@/lib/json';
import { Outputs, Value } from '@/ui/values/values';
import type { CardKinds, CardProps } from '../types';

function ExternalCard({ response: { output } }: CardProps<'external_tool_output'>) {
  const named = asRecord(output);
  return Object.keys(named).length > 0 ? <Outputs outputs={wrapped(named)} /> : <Value value={output} />;
}

/** Wraps each value, so that a list is shown as one value and not as several. */
function wrapped(named: Record<string, unknown>): Record<string, unknown[]> {
  return Object.fromEntries(Object.entries(named).map(([name, value]) => [name, [value]]));
}

export const external: CardKinds<'external_tool_output'> = {
  external_tool_output: { Card: ExternalCard, opens: true },
};
