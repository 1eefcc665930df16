import { Wrench } from 'lucide-react';
import type { GraphProblem } from '@/protocol';
import { Button } from '@/ui/buttons/button';
import { editText } from './edit-text';
import type { Fix } from './use-fix';

/** Applies the edit that repairs a problem; nothing for a problem that has none. */
export function FixButton({ problem, fix }: { problem: GraphProblem; fix: Fix }) {
  if (!problem.edit || !fix.canFix) return null;
  const text = editText(problem.edit);
  return (
    <div className="flex flex-wrap items-center gap-x-2 gap-y-1 pt-1">
      <Button
        size="small"
        icon={<Wrench aria-hidden className="size-4" />}
        busy={fix.fixing === problem}
        disabled={fix.fixing !== null}
        onClick={() => void fix.fix(problem)}
      >
        Apply fix
      </Button>
      <span className="min-w-0 text-xs break-words text-muted">{text}</span>
    </div>
  );
}
