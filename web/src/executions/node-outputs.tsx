import { Outputs } from '@/ui/values/values';
import type { NodeState } from './execution-state';

/** The latest outputs of a node, by pin. */
export function NodeOutputs({ node }: { node: NodeState }) {
  const outputs = Object.fromEntries([...node.outputs].map(([pin, { last }]) => [pin, last.slice(-3)]));
  return (
    <div className="flex flex-col gap-2 pl-5 text-sm">
      {node.error && (
        <p className="rounded-lg bg-bad-soft px-3 py-2 break-words whitespace-pre-wrap">{node.error}</p>
      )}
      {node.outputs.size > 0 ? (
        <Outputs outputs={outputs} />
      ) : (
        !node.error && <p className="text-muted">No output.</p>
      )}
    </div>
  );
}
