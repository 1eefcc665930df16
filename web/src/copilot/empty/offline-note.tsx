import { Unplug } from 'lucide-react';
import { useAbout } from '@/api/about';

/** Explains that no model is connected, and how to connect one. */
export function OfflineNote() {
  const { data: about } = useAbout();
  if (!about?.model.is_offline) return null;
  return (
    <aside className="flex gap-3 rounded-xl bg-sunken px-4 py-3 text-sm text-muted">
      <Unplug aria-hidden className="mt-0.5 size-4 shrink-0" />
      <p className="min-w-0">
        No model is connected. The built-in <strong className="font-medium text-ink">offline pilot</strong>{' '}
        only understands commands such as <code>/help</code>. To connect a model, start the server with{' '}
        <code>ANTHROPIC_API_KEY</code> or <code>OPENAI_API_KEY</code>, or with <code>CHAT_BASE_URL</code> and{' '}
        <code>CHAT_MODEL</code> for any OpenAI-compatible server.
      </p>
    </aside>
  );
}
