import { Json } from '@/ui/fold';
import { asRecord } from './records';

/** What is shown for an answer that no card is made for: its sentence, and all of it as it came. */
export function GenericCard({ output }: { output: unknown }) {
  const { message } = asRecord(output);
  return (
    <div className="flex flex-col gap-2">
      {typeof message === 'string' && message && <p className="text-sm break-words">{message}</p>}
      <Json value={output} />
    </div>
  );
}
