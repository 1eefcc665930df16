// The plan of a turn as a checklist.

import { Circle, CircleCheck, CircleDot } from 'lucide-react';
import type { Todo, TodoStatus } from '@/protocol';
import { classes } from '@/ui/classes';
import type { CardKinds, CardProps } from '../types';

const MARKS: Record<TodoStatus, { Icon: typeof Circle; words: string; colour: string }> = {
  pending: { Icon: Circle, words: 'To do', colour: 'text-muted' },
  in_progress: { Icon: CircleDot, words: 'Being done', colour: 'text-accent' },
  completed: { Icon: CircleCheck, words: 'Done', colour: 'text-good' },
};

function PlanCard({ response: { todos } }: CardProps<'todo_write'>) {
  if (todos.length === 0) return <p className="text-muted">The plan is empty.</p>;
  return (
    <ol className="flex flex-col gap-1.5">
      {todos.map((todo, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the list is replaced as a whole.
        <Item key={place} todo={todo} />
      ))}
    </ol>
  );
}

function Item({ todo: { content, status, activeForm } }: { todo: Todo }) {
  const { Icon, words, colour } = MARKS[status] ?? MARKS.pending;
  return (
    <li className="flex min-w-0 gap-2">
      <Icon aria-hidden className={classes('mt-0.5 size-4 shrink-0', colour)} />
      <span className="sr-only">{words}: </span>
      <span
        className={classes(
          'min-w-0 break-words',
          status === 'completed' && 'text-muted line-through',
          status === 'in_progress' && 'font-medium',
        )}
      >
        {status === 'in_progress' && activeForm ? activeForm : content}
      </span>
    </li>
  );
}

export const todos: CardKinds<'todo_write'> = {
  todo_write: {
    Card: PlanCard,
    opens: true,
    note: ({ todos }) =>
      `${todos.filter(({ status }) => status === 'completed').length} of ${todos.length} done`,
  },
};
