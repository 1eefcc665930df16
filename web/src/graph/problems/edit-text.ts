import type { GraphEdit } from '@/protocol';

/** What an edit does, in a few words. */
export function editText(edit: GraphEdit): string {
  switch (edit.op) {
    case 'add_step':
      return `Adds the step ${edit.step}`;
    case 'set':
      return edit.value === undefined || edit.value === null
        ? `Clears ${edit.step}.${edit.pin}`
        : `Sets ${edit.step}.${edit.pin} to ${short(JSON.stringify(edit.value))}`;
    case 'connect':
      return `Connects ${edit.from} to ${edit.to}`;
    case 'disconnect':
      return `Removes the link from ${edit.from} to ${edit.to}`;
    case 'rename':
      return `Renames ${edit.step} to ${edit.to}`;
    case 'remove':
      return `Removes ${edit.step}`;
    case 'set_inputs':
      return 'Changes the inputs';
    case 'set_outputs':
      return 'Changes the outputs';
  }
}

function short(text: string): string {
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}
