// The label, icon and verbs of each tool, as shown in the row of a call.

import {
  Blocks,
  Bot,
  CircleHelp,
  FilePen,
  Files,
  FileText,
  FileX,
  FolderClock,
  Globe,
  Hourglass,
  Library,
  ListTodo,
  type LucideIcon,
  Play,
  Search,
  Sparkles,
  Split,
  Store,
  Terminal,
  Wrench,
} from 'lucide-react';
import { humanName } from '@/ui/names';

export type ToolInput = Record<string, unknown>;

export type ToolLabels = {
  label: string;
  Icon: LucideIcon;
  doing: string;
  done: string;
  /** Replaces `done` while the call waits for the user. */
  waiting?: string;
  /** What the verb applies to, taken from the input. */
  object?: (input: ToolInput) => string | undefined;
};

const LABELS: Record<string, ToolLabels> = {
  ask_question: {
    label: 'Question for you',
    Icon: CircleHelp,
    doing: 'Preparing',
    done: 'Asked',
    waiting: 'Waiting for your answer',
  },
  bash_exec: { label: 'Shell', Icon: Terminal, doing: 'Running', done: 'Ran', object: plain('command') },
  check_background_tool: {
    label: 'Status',
    Icon: FolderClock,
    doing: 'Checking background task',
    done: 'Checked background task',
  },
  check_operation_status: {
    label: 'Status',
    Icon: Hourglass,
    doing: 'Checking operation status',
    done: 'Checked operation status',
  },
  continue_run_block: {
    label: 'Action',
    Icon: Blocks,
    doing: 'Running approved block',
    done: 'Ran approved block',
  },
  delete_workspace_file: {
    label: 'Workspace',
    Icon: FileX,
    doing: 'Deleting',
    done: 'Deleted',
    object: plain('path', 'file_id'),
  },
  find_agent: {
    label: 'Marketplace',
    Icon: Store,
    doing: 'Searching for agents',
    done: 'Searched for agents',
    object: quoted('query'),
  },
  find_block: {
    label: 'Blocks',
    Icon: Search,
    doing: 'Searching for',
    done: 'Searched for',
    object: quoted('query'),
  },
  find_library_agent: {
    label: 'Library',
    Icon: Library,
    doing: 'Searching your agents',
    done: 'Searched your agents',
    object: quoted('query', 'agent_id'),
  },
  get_doc_page: {
    label: 'Documentation',
    Icon: FileText,
    doing: 'Reading',
    done: 'Read',
    object: plain('path'),
  },
  get_sub_session_result: {
    label: 'Sub-session',
    Icon: Split,
    doing: 'Waiting for the result',
    done: 'Checked the result',
  },
  list_workspace_files: {
    label: 'Workspace',
    Icon: Files,
    doing: 'Listing files',
    done: 'Listed files',
    object: plain('path_prefix'),
  },
  read_workspace_file: {
    label: 'Workspace',
    Icon: FileText,
    doing: 'Reading',
    done: 'Read',
    object: plain('path', 'file_id'),
  },
  run_agent: {
    label: 'Agent',
    Icon: Bot,
    doing: 'Running',
    done: 'Ran',
    object: plain('username_agent_slug', 'library_agent_id'),
  },
  run_block: { label: 'Action', Icon: Blocks, doing: 'Running', done: 'Ran', object: plain('block_id') },
  run_sub_session: {
    label: 'Sub-session',
    Icon: Split,
    doing: '',
    done: '',
    object: quoted('prompt'),
  },
  search_docs: {
    label: 'Documentation',
    Icon: Search,
    doing: 'Searching for',
    done: 'Searched for',
    object: quoted('query'),
  },
  suggest_goal: { label: 'Goal', Icon: Sparkles, doing: 'Suggesting a goal', done: 'Suggested a goal' },
  todo_write: { label: 'Plan', Icon: ListTodo, doing: 'Updating plan', done: 'Updated plan' },
  view_agent_output: {
    label: 'Agent',
    Icon: Play,
    doing: 'Checking run',
    done: 'Checked run',
    object: plain('agent_name', 'store_slug', 'execution_id'),
  },
  web_fetch: { label: 'Web page', Icon: Globe, doing: 'Reading', done: 'Read', object: address },
  write_workspace_file: {
    label: 'Workspace',
    Icon: FilePen,
    doing: 'Writing',
    done: 'Wrote',
    object: plain('path', 'filename'),
  },
};

/** Names of the tools with labels of their own. */
export const KNOWN_TOOLS: readonly string[] = Object.keys(LABELS);

/** Labels of a tool. One added by an operator is labeled with its name, made readable. */
export function labelsFor(tool: string): ToolLabels {
  const known = Object.hasOwn(LABELS, tool) ? LABELS[tool] : undefined;
  return known ?? { label: humanName(tool), Icon: Wrench, doing: 'Running', done: '', object: firstText };
}

function plain(...names: string[]): (input: ToolInput) => string | undefined {
  return (input) => {
    for (const name of names) {
      const value = input[name];
      if (typeof value === 'string' && value.trim()) return oneLine(value);
    }
    return undefined;
  };
}

function quoted(...names: string[]): (input: ToolInput) => string | undefined {
  const find = plain(...names);
  return (input) => {
    const found = find(input);
    return found && `“${found}”`;
  };
}

function address(input: ToolInput): string | undefined {
  return plain('url')(input)?.replace(/^https?:\/\//, '');
}

function firstText(input: ToolInput): string | undefined {
  const first = Object.values(input).find((value) => typeof value === 'string' && value.trim());
  return typeof first === 'string' ? oneLine(first) : undefined;
}

/** The text on one line, truncated to what fits in a row. The details have all of it. */
function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > 160 ? `${line.slice(0, 160)}…` : line;
}
