import { Star } from 'lucide-react';
import { wordsOf } from '@/api/problem';
import type { LibraryAgent } from '@/protocol';
import { IconButton } from '@/ui/button';
import { classes } from '@/ui/classes';
import { say } from '@/ui/toast';
import { useAgentChanges } from './agents';

/** Marks an agent as a favourite; shown at once, taken back if the server refuses. */
export function FavouriteButton({ agent }: { agent: LibraryAgent }) {
  const { change } = useAgentChanges();
  const isFavourite = change.isPending ? change.variables.is_favorite === true : agent.is_favorite;
  return (
    <IconButton
      label="Favourite"
      aria-pressed={isFavourite}
      disabled={change.isPending}
      onClick={() =>
        change.mutate(
          { id: agent.id, is_favorite: !agent.is_favorite },
          { onError: (error) => say(wordsOf(error), 'bad') },
        )
      }
    >
      <Star className={classes('size-4', isFavourite && 'fill-current text-warn')} />
    </IconButton>
  );
}
