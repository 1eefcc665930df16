// A card that asks something: as long as it can be answered, after it was, and when the conversation has gone on.

import { useState } from 'react';
import { remember } from '@/tools/card-memory';
import { ToolCard } from '@/tools/tool-card';
import type { ToolPart } from '@/tools/types';
import { EXAMPLES, type Example, partOf } from './fixtures';
import { Entry, Specimen } from './specimen';

const ASKING = [
  { title: 'Questions', example: EXAMPLES.clarification_needed[0] },
  { title: 'A form', example: EXAMPLES.agent_details[0] },
  { title: 'A goal', example: EXAMPLES.suggested_goal[0] },
] as { title: string; example: Example }[];

export function CardsThatAsk() {
  return (
    <Entry title="A card that asks something">
      {ASKING.map(({ title, example }) => (
        <Specimen key={title} title={`${title}, answered`}>
          <Answered part={partOf(example, 'answered')} />
        </Specimen>
      ))}
      {ASKING.map(({ title, example }) => (
        <Specimen key={title} title={`${title}, and somebody has written something else`}>
          <ToolCard open part={partOf(example, 'passed')} current={false} />
        </Specimen>
      ))}
    </Entry>
  );
}

function Answered({ part }: { part: ToolPart }) {
  // It has to be known before the card is built.
  useState(() => {
    remember(`${part.toolCallId} sent`, 'Answered in the style guide.');
    remember(`${part.toolCallId} answers`, { 0: 'Brest', 1: 'Every week' });
  });
  return <ToolCard open part={part} />;
}
