// Card of the copilot's plan, a checklist.

import { Circle, CircleCheck, CircleDot } from 'lucide-react';
import type { TodoItem, TodoStatus } from '@/protocol';
import { classes } from '@/ui/classes';
import type { CardKinds, CardProps } from '../types';

const MARKS: Record<TodoStatus, { Icon: typeof Circle; label: string; color: string }> = {
  pending: { Icon: Circle, label: 'To do', color: 'text-muted' },
  in_progress: { Icon: CircleDot, label: 'In progress', color: 'text-accent' },
  completed: { Icon: CircleCheck, label: 'Done', color: 'text-good' },
};

function PlanCard({ response: { todos } }: CardProps<'todo_write'>) {
  if (todos.length === 0) return <p className="text-muted">The plan is empty.</p>;
  return (
    <ol className="flex flex-col gap-1.5">
      {todos.map((todo, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the list is replaced as a whole.
        <Item key={index} todo={todo} />
      ))}
    </ol>
  );
}

function Item({ todo: { content, status, activeForm } }: { todo: TodoItem }) {
  const { Icon, label, color } = MARKS[status] ?? MARKS.pending;
  return (
    <li className="flex min-w-0 gap-2">
      <Icon aria-hidden className={classes('mt-0.5 size-4 shrink-0', color)} />
      <span className="sr-only">{label}: </span>
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
