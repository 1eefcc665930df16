// The icons that tools can have, by their names in the API.

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
  Split,
  Store,
  Terminal,
  Wrench,
} from 'lucide-react';
import type { ToolIcon } from '@/protocol';

const ICONS: Record<ToolIcon, LucideIcon> = {
  blocks: Blocks,
  bot: Bot,
  'circle-help': CircleHelp,
  'file-pen': FilePen,
  'file-text': FileText,
  'file-x': FileX,
  files: Files,
  'folder-clock': FolderClock,
  globe: Globe,
  hourglass: Hourglass,
  library: Library,
  'list-todo': ListTodo,
  play: Play,
  search: Search,
  split: Split,
  store: Store,
  terminal: Terminal,
  wrench: Wrench,
};

/** The icon of this name. A newer server may have icons that this page doesn't know. */
export function toolIcon(name: string): LucideIcon {
  return Object.hasOwn(ICONS, name) ? ICONS[name as ToolIcon] : Wrench;
}
