import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Library, Plus } from 'lucide-react';
import { LIBRARY } from '@/agents/agent-queries';
import { api, dataOf } from '@/api/client';
import { errorMessage } from '@/api/problem';
import type { StoreAgent } from '@/protocol';
import { Button, buttonClasses } from '@/ui/buttons/button';
import { showToast } from '@/ui/feedback/toast';
import { entryQuery } from './listings';

/** Button that adds an agent to the library, or a link to it if it is already there. */
export function AddToLibrary({ listing }: { listing: StoreAgent }) {
  const queries = useQueryClient();
  const entry = useQuery(entryQuery(listing.store_listing_version_id));
  const add = useMutation({
    mutationFn: () =>
      dataOf(
        api.POST('/api/library/agents', {
          body: { store_listing_version_id: listing.store_listing_version_id },
        }),
      ),
    onSuccess: async (agent) => {
      queries.setQueryData(entryQuery(listing.store_listing_version_id).queryKey, () => ({ id: agent.id }));
      showToast(`Added “${agent.name}” to your library.`, 'good');
      await queries.invalidateQueries({ queryKey: LIBRARY });
    },
    onError: (error) => showToast(errorMessage(error), 'bad'),
  });
  if (entry.data) {
    return (
      <Link to="/library/agents/$id" params={{ id: entry.data.id }} className={buttonClasses('primary')}>
        <Library aria-hidden className="size-4" />
        Open in library
      </Link>
    );
  }
  return (
    <Button
      kind="primary"
      icon={<Plus aria-hidden className="size-4" />}
      busy={add.isPending}
      disabled={entry.isPending}
      onClick={() => add.mutate()}
    >
      Add to library
    </Button>
  );
}
