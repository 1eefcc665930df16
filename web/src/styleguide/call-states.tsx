// A call in each of its states, and output without a card of its own.

import { ToolCard } from '@/tools/tool-card';
import type { ToolPart } from '@/tools/types';
import { InputCards } from './input-cards';
import { Entry, Specimen } from './specimen';

type State = { title: string; part: ToolPart; live?: boolean };

const SEARCH = { type: 'tool-search_docs' as const, input: { query: 'resume a stream' } };

const STATES: State[] = [
  {
    title: 'Preparing',
    part: { ...SEARCH, toolCallId: 's1', state: 'input-streaming', input: { query: 'resume' } },
  },
  { title: 'Running', part: { ...SEARCH, toolCallId: 's2', state: 'input-available' } },
  {
    title: 'Running, with preliminary output',
    part: {
      type: 'tool-run_sub_session',
      toolCallId: 's3',
      state: 'output-available',
      preliminary: true,
      input: { prompt: 'Count the gulls.' },
      output: {
        type: 'sub_session_status',
        message: 'The sub-session is running.',
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
    part: { ...SEARCH, toolCallId: 's5', state: 'output-error', errorText: 'The tool crashed.' },
  },
  {
    title: 'Failed, with an error response',
    part: {
      ...SEARCH,
      toolCallId: 's6',
      state: 'output-available',
      output: { type: 'error', error: 'invalid_arguments', message: 'The query is empty.' },
    },
  },
  {
    title: 'Stopped before it finished',
    part: { ...SEARCH, toolCallId: 's7', state: 'input-available' },
    live: false,
  },
];

const UNUSUAL: State[] = [
  {
    title: 'Unknown response type',
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
    title: 'Plain text, and a very long word',
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
      <Entry title="Call states">
        {STATES.map((state) => (
          <CallState key={state.title} state={state} />
        ))}
      </Entry>
      <InputCards />
      <Entry title="Output without its own card">
        {UNUSUAL.map((state) => (
          <CallState key={state.title} state={state} />
        ))}
      </Entry>
    </>
  );
}

function CallState({ state: { title, part, live } }: { state: State }) {
  return (
    <Specimen title={title}>
      <ToolCard part={part} live={live} />
    </Specimen>
  );
}
