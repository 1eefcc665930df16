// Chat messages.

import { AssistantMessage } from '@/copilot/conversation/assistant-message';
import { BackgroundNote, CompactionNote } from '@/copilot/conversation/notes';
import { Reasoning } from '@/copilot/conversation/reasoning';
import { TurnFailed, TurnStopped } from '@/copilot/conversation/turn-ending';
import { UserMessage } from '@/copilot/conversation/user-message';
import type { DataParts } from '@/protocol';
import type { CopilotMessage } from '@/session/types';
import { Markdown } from '@/ui/markdown/markdown';
import { EXAMPLES, type Example, partOf } from './fixtures';
import { Entry, Specimen } from './specimen';

const MARKDOWN = `## Tides of Hamburg

High water is at **05:42** and **18:07**, as \`tides.csv\` says. See [the table](https://example.org/tides).

| time | height |
|---|---|
| 05:42 | 4.1 m |
| 18:07 | 3.9 m |

1. Cast off before seven.
2. Keep to the green side.

> Wind against tide makes a short sea.

\`\`\`python
def height(hours: float) -> float:
    return 2 + 2 * cos(hours / 12.4 * tau)
\`\`\`
`;

const COMPACTION: DataParts['compaction'] = {
  folded: 48,
  through: 'm48',
  tokensBefore: 90_000,
  tokensAfter: 6_000,
  summary: 'The chat was about **tides**.',
};
const BACKGROUND: DataParts['background'][] = [
  { toolCallId: 'b1', toolName: 'weigh_cargo', status: 'still_running' },
  { toolCallId: 'b2', toolName: 'bash_exec', status: 'completed' },
];

const ANSWER: CopilotMessage = {
  id: 'example',
  role: 'assistant',
  metadata: {
    createdAt: '2026-11-16T09:30:00Z',
    durationMs: 8_400,
    model: 'example-model',
    promptTokens: 3_221,
    completionTokens: 278,
  },
  parts: [
    { type: 'reasoning', text: 'The tides are in the table of the harbor office.', state: 'done' },
    partOf(EXAMPLES.doc_search_results[0] as Example, 'message'),
    { type: 'text', text: 'High water is at **05:42**.', state: 'done' },
  ],
};

export function Messages() {
  return (
    <>
      <Entry title="Response">
        <Specimen title="A message and its response">
          <div className="flex flex-col gap-4">
            <UserMessage text="When is high water in Hamburg?" />
            <AssistantMessage message={ANSWER} live={false} last current />
          </div>
        </Specimen>
        <Specimen title="Reasoning">
          <Reasoning streaming text="The tides of Hamburg depend on those of Cuxhaven." />
        </Specimen>
        <Specimen title="Stopped">
          <TurnStopped onRetry={() => {}} />
        </Specimen>
        <Specimen title="Failed">
          <TurnFailed
            code="transient_api_error"
            message="The model provider is overloaded."
            canRetry
            onRetry={() => {}}
          />
        </Specimen>
        <Specimen title="Summary and background calls">
          <div className="flex flex-col gap-3">
            <CompactionNote data={COMPACTION} />
            <BackgroundNote calls={BACKGROUND} />
          </div>
        </Specimen>
      </Entry>
      <Entry title="Text">
        <Specimen title="All Markdown elements">
          <Markdown text={MARKDOWN} />
        </Specimen>
        <Specimen title="While streaming">
          <Markdown streaming text={'The tides of **Hamb'} />
        </Specimen>
      </Entry>
    </>
  );
}
