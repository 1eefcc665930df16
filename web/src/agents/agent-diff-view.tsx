import { Info, TriangleAlert } from 'lucide-react';
import type { AgentDiff } from '@/protocol';
import { classes } from '@/ui/classes';
import { More } from '@/ui/page/more';
import { changeLines, consequences } from './agent-diff';
import { SignedLines } from './diff-lines';

/** Consequences beyond this number are counted, not shown. */
const MAX_CONSEQUENCES = 20;

/** The difference of two agents: the changed steps, links, inputs and outputs, and what that means. */
export function AgentDiffView({ diff }: { diff: AgentDiff }) {
  const lines = changeLines(diff);
  const following = consequences(diff);
  if (lines.length === 0) return <p className="text-muted">No changes.</p>;
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <SignedLines lines={lines} />
      {following.length > 0 && (
        <div className="flex flex-col gap-1.5">
          <p className="font-medium">What this means</p>
          <ul className="flex flex-col gap-1">
            {following.slice(0, MAX_CONSEQUENCES).map(({ tone, text }) => {
              const Icon = tone === 'warn' ? TriangleAlert : Info;
              return (
                <li key={text} className="flex min-w-0 gap-2">
                  <Icon
                    aria-hidden
                    className={classes(
                      'mt-0.5 size-4 shrink-0',
                      tone === 'warn' ? 'text-warn' : 'text-muted',
                    )}
                  />
                  <span className="min-w-0 break-words">{text}</span>
                </li>
              );
            })}
          </ul>
          <More number={following.length - MAX_CONSEQUENCES} />
        </div>
      )}
    </div>
  );
}
