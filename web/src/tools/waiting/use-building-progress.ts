import { useQuery } from '@tanstack/react-query';
import { followEvents } from '@/api/follow-events';
import { type BuildingProgress, progressOfEvent } from './building-stages';

export const progressKey = (taskId: string | null) => ['building-progress', taskId] as const;

/** Follows the stream of an operation that makes an agent. Null without an id, and until a stage is reported. */
export function useBuildingProgress(taskId: string | null): BuildingProgress | null {
  const { data } = useQuery({
    queryKey: progressKey(taskId),
    queryFn: async ({ client, signal }): Promise<BuildingProgress | null> => {
      let last: BuildingProgress | null = null;
      await followEvents(
        `/api/chat/tasks/${encodeURIComponent(taskId ?? '')}/stream`,
        {
          onEvent: ({ data }) => {
            const progress = progressOfEvent(data);
            if (!progress) return;
            last = progress;
            client.setQueryData(progressKey(taskId), progress);
          },
        },
        signal,
      );
      return last;
    },
    staleTime: Number.POSITIVE_INFINITY,
    // The stages are an extra: the card polls the state of the operation, and reports when that fails.
    retry: false,
    // `enabled` is left unset otherwise, so that the style guide can disable all queries by default.
    ...(taskId ? {} : { enabled: false }),
  });
  return data ?? null;
}
