import { Star } from 'lucide-react';
import { errorMessage } from '@/api/problem';
import type { LibraryAgent } from '@/protocol';
import { IconButton } from '@/ui/buttons/button';
import { classes } from '@/ui/classes';
import { showToast } from '@/ui/feedback/toast';
import { useAgentChanges } from './agent-changes';

/** Toggles an agent as a favorite. Updates optimistically and reverts on error. */
export function FavoriteButton({ agent }: { agent: LibraryAgent }) {
  const { change } = useAgentChanges();
  const isFavorite = change.isPending ? change.variables.is_favorite === true : agent.is_favorite;
  return (
    <IconButton
      label="Favorite"
      aria-pressed={isFavorite}
      disabled={change.isPending}
      onClick={() =>
        change.mutate(
          { id: agent.id, is_favorite: !agent.is_favorite },
          { onError: (error) => showToast(errorMessage(error), 'bad') },
        )
      }
    >
      <Star className={classes('size-4', isFavorite && 'fill-current text-warn')} />
    </IconButton>
  );
}
