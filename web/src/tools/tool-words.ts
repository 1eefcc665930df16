// What a call is called, and what it does in words for people.

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

export type Input = Record<string, unknown>;

export type ToolWords = {
  label: string;
  Icon: LucideIcon;
  doing: string;
  done: string;
  /** What it is done to, as far as the input says. */
  object?: (input: Input) => string | undefined;
};

const WORDS: Record<string, ToolWords> = {
  ask_question: { label: 'Question', Icon: CircleHelp, doing: 'Asking you', done: 'Asked you' },
  bash_exec: { label: 'Shell', Icon: Terminal, doing: 'Running', done: 'Ran', object: plain('command') },
  check_background_tool: {
    label: 'Background work',
    Icon: FolderClock,
    doing: 'Looking after it',
    done: 'Looked after it',
  },
  check_operation_status: {
    label: 'Operation',
    Icon: Hourglass,
    doing: 'Asking how it stands',
    done: 'Asked how it stands',
  },
  continue_run_block: { label: 'Action', Icon: Blocks, doing: 'Going on', done: 'Went on' },
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
    label: 'Sub-AutoPilot',
    Icon: Split,
    doing: 'Waiting for its answer',
    done: 'Looked for its answer',
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
    label: 'Sub-AutoPilot',
    Icon: Split,
    doing: 'Working on',
    done: 'Worked on',
    object: quoted('prompt'),
  },
  search_docs: {
    label: 'Documentation',
    Icon: Search,
    doing: 'Searching for',
    done: 'Searched for',
    object: quoted('query'),
  },
  suggest_goal: { label: 'Goal', Icon: Sparkles, doing: 'Thinking of a goal', done: 'Suggested a goal' },
  todo_write: { label: 'Plan', Icon: ListTodo, doing: 'Writing the plan', done: 'Updated the plan' },
  view_agent_output: {
    label: 'Agent',
    Icon: Play,
    doing: 'Looking at its run',
    done: 'Looked at its run',
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

/** The names with words of their own. */
export const KNOWN_TOOLS: readonly string[] = Object.keys(WORDS);

/** A tool that an operator has added goes by its own name, made readable. */
export function wordsFor(tool: string): ToolWords {
  const known = Object.hasOwn(WORDS, tool) ? WORDS[tool] : undefined;
  return known ?? { label: humanName(tool), Icon: Wrench, doing: 'Working', done: '', object: firstWords };
}

function plain(...names: string[]): (input: Input) => string | undefined {
  return (input) => {
    for (const name of names) {
      const value = input[name];
      if (typeof value === 'string' && value.trim()) return oneLine(value);
    }
    return undefined;
  };
}

function quoted(...names: string[]): (input: Input) => string | undefined {
  const find = plain(...names);
  return (input) => {
    const found = find(input);
    return found && `“${found}”`;
  };
}

function address(input: Input): string | undefined {
  return plain('url')(input)?.replace(/^https?:\/\//, '');
}

function firstWords(input: Input): string | undefined {
  const first = Object.values(input).find((value) => typeof value === 'string' && value.trim());
  return typeof first === 'string' ? oneLine(first) : undefined;
}

/** Long enough to fill any row; the rest is in the details. */
function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > 160 ? `${line.slice(0, 160)}…` : line;
}
