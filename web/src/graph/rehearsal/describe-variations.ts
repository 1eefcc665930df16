import type { RehearsalVariation } from '@/protocol';

/** What was different in another run of a rehearsal: "height = 4, approve rejected". */
export function describeVariations(variations: readonly RehearsalVariation[]): string {
  return variations.map(describe).join(', ');
}

function describe({ kind, name, pin, value }: RehearsalVariation): string {
  const target = pin ? `${name}.${pin}` : name;
  if (kind === 'rejection') return `${target} rejected`;
  if (kind === 'failure') return `${target} failing`;
  return value === undefined ? target : `${target} = ${JSON.stringify(value)}`;
}
