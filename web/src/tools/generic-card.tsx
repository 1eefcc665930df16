import { asRecord } from '@/lib/json';
import { Json } from '@/ui/values/json';

/** Shows output without a card of its own: its message, and all of it as JSON. */
export function GenericCard({ output }: { output: unknown }) {
  const { message } = asRecord(output);
  return (
    <div className="flex flex-col gap-2">
      {typeof message === 'string' && message && <p className="text-sm break-words">{message}</p>}
      <Json value={output} />
    </div>
  );
}
