import { Cpu, Unplug } from 'lucide-react';
import { useAbout } from '@/api/about';

/** The name of the model in use. */
export function ModelLine() {
  const { data: about } = useAbout();
  if (!about) return <span className="flex-1" />;
  const { is_offline, name, provider } = about.model;
  const Icon = is_offline ? Unplug : Cpu;
  return (
    <p
      title={is_offline ? 'Built in. Works without a key or network.' : `${name} (${provider})`}
      className="flex min-w-0 flex-1 items-center gap-2 text-xs text-muted"
    >
      <Icon aria-hidden className="size-4 shrink-0" />
      <span className="sr-only">Model: </span>
      <span className="truncate">{is_offline ? 'Offline pilot' : name}</span>
    </p>
  );
}
