import { useBlocker } from '@tanstack/react-router';
import { createPortal } from 'react-dom';
import { Confirm } from '@/ui/dialog/confirm';

/** Asks before unsaved text is lost, also when the tab is closed. The tabs of the page keep the text. */
export function UnsavedText({ isUnsaved }: { isUnsaved: boolean }) {
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => isUnsaved && documentOf(current) !== documentOf(next),
    enableBeforeUnload: isUnsaved,
    withResolver: true,
  });
  // Outside of the tab, which may be hidden.
  return createPortal(
    <Confirm
      title="Leave without saving?"
      confirmLabel="Discard changes"
      open={blocker.status === 'blocked'}
      onClose={() => blocker.reset?.()}
      onConfirm={async () => blocker.proceed?.()}
    >
      Your changes to the spec are not saved and will be lost.
    </Confirm>,
    document.body,
  );
}

/** The agent and the version that a URL shows. */
function documentOf({ pathname, search }: { pathname: string; search: object }): string {
  const { flowID, flowVersion } = search as { flowID?: string; flowVersion?: number };
  return JSON.stringify([pathname, flowID ?? null, flowVersion ?? null]);
}
