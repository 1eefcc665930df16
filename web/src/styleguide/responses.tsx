// Examples of every response type in the card registry.

import type { ResponseType } from '@/protocol';
import { CARDS } from '@/tools/registry';
import { ToolCard } from '@/tools/tool-card';
import { EXAMPLES, type Example, partOf } from './fixtures';
import { Entry, Specimen } from './specimen';

export const RESPONSE_TYPES = (Object.keys(CARDS) as ResponseType[]).sort();

/** Element id that the index links to. */
export function anchorOf(type: ResponseType): string {
  return `response-${type}`;
}

export function Responses() {
  return RESPONSE_TYPES.map((type) => (
    <div key={type} id={anchorOf(type)} className="scroll-mt-4">
      <Entry title={type} mono>
        {(EXAMPLES[type] as Example[]).map((example, index) => (
          <Specimen key={example.title} title={example.title}>
            <ToolCard open part={partOf(example, `response-${index}`)} />
          </Specimen>
        ))}
      </Entry>
    </div>
  ));
}
