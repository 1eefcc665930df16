// The chat in the screenshots.

import type { ScriptedModel } from '../harness/scripted-model';

export const PLAN = 'We want to sail from Vlissingen to Ostend on Saturday. When should we leave?';

const TODOS = [
  { content: 'Look up the tides', activeForm: 'Looking up the tides', status: 'completed' },
  { content: 'Compare the two ways out', activeForm: 'Comparing the two ways out', status: 'in_progress' },
  { content: 'Write the passage plan', activeForm: 'Writing the passage plan', status: 'pending' },
];

const NOTES = '# Passage plan\n\nLeave at 09:40, arrive at 15:10.\n';

export function playVoyage(model: ScriptedModel): void {
  model.respondWith(
    (reply) => {
      reply.sendText('I compare the tides first and write the plan down as we go.');
      reply.callTool('todo_write', { todos: TODOS });
      reply.callTool('write_workspace_file', { filename: 'passage-plan.md', content: NOTES });
    },
    (reply) => {
      reply.sendText(
        [
          'Leave at **09:40**, an hour before high water. The ebb then carries you along the coast:\n\n',
          '| Leave | Current | Under way | Arrive |\n| --- | --- | ---: | --- |\n',
          '| 07:00 | against you | 7 h 10 | 14:10 |\n| **09:40** | with you | 5 h 30 | 15:10 |\n\n',
          'At five knots through the water that is\n\n',
          '```python\nhours = 34 / (5.0 + 1.2)   # distance / (speed + current)\n```\n\n',
          'The plan is in your workspace as `passage-plan.md`.',
        ].join(''),
      );
    },
  );
}
