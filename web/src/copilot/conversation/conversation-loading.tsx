import { Skeleton } from '@/ui/page/states';

/** Placeholder in the shape of a conversation. */
export function LoadingConversation() {
  return (
    <div role="status" className="min-h-0 flex-1 overflow-hidden">
      <span className="sr-only">Loading chat…</span>
      <div className="mx-auto flex w-full max-w-3xl flex-col gap-6 px-4 py-6">
        <Skeleton className="h-12 w-1/2 self-end rounded-2xl" />
        <Skeleton className="h-5 w-11/12" />
        <Skeleton className="h-5 w-4/5" />
        <Skeleton className="h-28" />
        <Skeleton className="h-12 w-2/5 self-end rounded-2xl" />
        <Skeleton className="h-5 w-10/12" />
      </div>
    </div>
  );
}
