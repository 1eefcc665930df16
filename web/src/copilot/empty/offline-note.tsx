import { Unplug } from 'lucide-react';
import { useAbout } from '@/api/about';

/** Says who answers when no model does, and how to get one. */
export function OfflineNote() {
  const { data: about } = useAbout();
  if (!about?.model.is_offline) return null;
  return (
    <aside className="flex gap-3 rounded-xl bg-sunken px-4 py-3 text-sm text-muted">
      <Unplug aria-hidden className="mt-0.5 size-4 shrink-0" />
      <p className="min-w-0">
        The <strong className="font-medium text-ink">offline pilot</strong> answers here: it follows commands
        such as <code>/help</code> and asks no model. For a real one, start the server with{' '}
        <code>ANTHROPIC_API_KEY</code> or <code>OPENAI_API_KEY</code> set, or with <code>CHAT_BASE_URL</code>{' '}
        and <code>CHAT_MODEL</code> for any server that speaks like OpenAI's.
      </p>
    </aside>
  );
}
