// Cards that ask for input: after they were answered, and after the chat continued without an answer.

import { useState } from 'react';
import { setCardState } from '@/tools/card-state';
import { ToolCard } from '@/tools/tool-card';
import type { ToolPart } from '@/tools/types';
import { EXAMPLES, type Example, partOf } from './fixtures';
import { Entry, Specimen } from './specimen';

const INPUT_CARDS = [
  { title: 'Questions', example: EXAMPLES.clarification_needed[0] },
  { title: 'Form', example: EXAMPLES.agent_details[0] },
  { title: 'Goal', example: EXAMPLES.suggested_goal[0] },
] as { title: string; example: Example }[];

export function InputCards() {
  return (
    <Entry title="Cards that ask for input">
      {INPUT_CARDS.map(({ title, example }) => (
        <Specimen key={title} title={`${title}, answered`}>
          <Answered part={partOf(example, 'answered')} />
        </Specimen>
      ))}
      {INPUT_CARDS.map(({ title, example }) => (
        <Specimen key={title} title={`${title}, followed by another message`}>
          <ToolCard open part={partOf(example, 'skipped')} current={false} />
        </Specimen>
      ))}
    </Entry>
  );
}

function Answered({ part }: { part: ToolPart }) {
  // The state must be set before the card is mounted.
  useState(() => {
    setCardState(`${part.toolCallId} sent`, 'Answered in the style guide.');
    setCardState(`${part.toolCallId} answers`, { 0: 'Brest', 1: 'Every week' });
  });
  return <ToolCard open part={part} />;
}
