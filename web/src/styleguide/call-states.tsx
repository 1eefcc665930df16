// One call in every state it can be in, and the answers that no card is made for.

import { ToolCard } from '@/tools/tool-card';
import type { ToolPart } from '@/tools/types';
import { CardsThatAsk } from './cards-that-ask';
import { Entry, Specimen } from './specimen';

type State = { title: string; part: ToolPart; live?: boolean };

const SEARCH = { type: 'tool-search_docs' as const, input: { query: 'resume a stream' } };

const STATES: State[] = [
  {
    title: 'Its input is being written',
    part: { ...SEARCH, toolCallId: 's1', state: 'input-streaming', input: { query: 'resume' } },
  },
  { title: 'At work', part: { ...SEARCH, toolCallId: 's2', state: 'input-available' } },
  {
    title: 'At work, with something to show already',
    part: {
      type: 'tool-run_sub_session',
      toolCallId: 's3',
      state: 'output-available',
      preliminary: true,
      input: { prompt: 'Count the gulls.' },
      output: {
        type: 'sub_session_status',
        message: 'It is at work.',
        status: 'running',
        sub_session_id: 'sub-4',
        sub_autopilot_session_id: 'sub-4',
        sub_autopilot_session_link: '/copilot?sessionId=sub-4',
        tool_calls: [],
        elapsed_seconds: 0,
      },
    },
  },
  {
    title: 'Done',
    part: {
      ...SEARCH,
      toolCallId: 's4',
      state: 'output-available',
      output: { type: 'doc_search_results', message: '', query: 'resume a stream', count: 0, results: [] },
    },
  },
  {
    title: 'Failed',
    part: { ...SEARCH, toolCallId: 's5', state: 'output-error', errorText: 'The tool has crashed.' },
  },
  {
    title: 'Failed, as the tool says',
    part: {
      ...SEARCH,
      toolCallId: 's6',
      state: 'output-available',
      output: { type: 'error', error: 'invalid_arguments', message: 'The query is empty.' },
    },
  },
  {
    title: 'Stopped before it had a result',
    part: { ...SEARCH, toolCallId: 's7', state: 'input-available' },
    live: false,
  },
];

const ODD: State[] = [
  {
    title: 'A kind of answer that this page does not know',
    part: {
      type: 'dynamic-tool',
      toolName: 'forecast_weather',
      toolCallId: 'o1',
      state: 'output-available',
      input: { place: 'Dogger' },
      output: { type: 'weather_forecast', message: 'Southwesterly 5 to 7.', gusts: true },
    },
  },
  {
    title: 'Text that is no JSON, and a word that does not end',
    part: {
      type: 'dynamic-tool',
      toolName: 'an_external_tool_with_a_rather_long_name_that_has_to_end_somewhere',
      toolCallId: 'o2',
      state: 'output-available',
      input: { text: 'Donaudampfschifffahrtsgesellschaft'.repeat(8) },
      output: 'a'.repeat(400),
    },
  },
];

export function CallStates() {
  return (
    <>
      <Entry title="From the call to its result">
        {STATES.map((state) => (
          <Shown key={state.title} state={state} />
        ))}
      </Entry>
      <CardsThatAsk />
      <Entry title="What no card is made for">
        {ODD.map((state) => (
          <Shown key={state.title} state={state} />
        ))}
      </Entry>
    </>
  );
}

function Shown({ state: { title, part, live } }: { state: State }) {
  return (
    <Specimen title={title}>
      <ToolCard part={part} live={live} />
    </Specimen>
  );
}
