import { ChevronRight } from 'lucide-react';
import { useState } from 'react';
import { Json } from '@/ui/values/json';
import type { Call } from './call';

/** Input and output of a call as JSON, collapsed. The JSON is rendered only after the user opens it. */
export function CallDetails({ call, withOutput }: { call: Call; withOutput: boolean }) {
  const [open, setOpen] = useState(false);
  const hasInput = Object.keys(call.input).length > 0;
  if (!hasInput && !withOutput) return null;
  return (
    <details className="group/details" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="flex w-fit list-none items-center gap-1 rounded py-1 text-xs text-muted hover:text-ink pointer-coarse:min-h-10 [&::-webkit-details-marker]:hidden">
        <ChevronRight aria-hidden className="size-3.5 transition-transform group-open/details:rotate-90" />
        {withOutput ? 'Details' : 'Input'}
      </summary>
      {open && (
        <div className="mt-1 flex flex-col gap-2">
          {hasInput && <Json value={call.input} />}
          {withOutput && <Json value={call.output} />}
        </div>
      )}
    </details>
  );
}
