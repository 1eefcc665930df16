// Every kind of answer, as the registry of cards lists them.

import type { ResponseType } from '@/protocol';
import { CARDS } from '@/tools/registry';
import { ToolCard } from '@/tools/tool-card';
import { EXAMPLES, type Example, partOf } from './fixtures';
import { Entry, Specimen } from './specimen';

export const ANSWER_TYPES = (Object.keys(CARDS) as ResponseType[]).sort();

/** Where the index leads to. */
export function anchorOf(type: ResponseType): string {
  return `answer-${type}`;
}

export function Answers() {
  return ANSWER_TYPES.map((type) => (
    <div key={type} id={anchorOf(type)} className="scroll-mt-4">
      <Entry title={type} mono>
        {(EXAMPLES[type] as Example[]).map((example, place) => (
          <Specimen key={example.title} title={example.title}>
            <ToolCard open part={partOf(example, `answer-${place}`)} />
          </Specimen>
        ))}
      </Entry>
    </div>
  ));
}
