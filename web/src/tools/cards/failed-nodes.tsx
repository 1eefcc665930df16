import { CircleAlert } from 'lucide-react';
import { asRecord } from '@/lib/json';
import { blockName } from '@/ui/text/names';

/** The blocks of a run that failed, with their errors. */
export function FailedNodes({ nodes }: { nodes: readonly unknown[] }) {
  if (nodes.length === 0) return null;
  return (
    <ul className="flex flex-col gap-1 rounded-lg bg-bad-soft px-3 py-2 text-sm">
      {nodes.map((node, index) => {
        const { block_name, error } = asRecord(node);
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a node may fail several times with the same error.
          <li key={index} className="flex min-w-0 gap-2">
            <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
            <span className="min-w-0 break-words">
              <span className="font-medium">{blockName(String(block_name ?? 'Block'))}</span>:{' '}
              {String(error ?? 'failed')}
            </span>
          </li>
        );
      })}
    </ul>
  );
}
