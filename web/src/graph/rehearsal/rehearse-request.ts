import { api, dataOf } from '@/api/client';
import { asRecord } from '@/lib/json';
import type { RehearsalReport, RehearseBody } from '@/protocol';

export function rehearse(body: RehearseBody): Promise<RehearsalReport> {
  return dataOf(api.POST('/api/agents/rehearse', { body }));
}

/** The inputs of an agent with none required: a rehearsal makes up what is left empty. */
export function optionalInputs(schema: unknown): unknown {
  return { ...asRecord(schema), required: [] };
}
