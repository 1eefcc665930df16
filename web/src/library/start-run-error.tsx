import { Failure } from '@/ui/page/states';
import { graphErrors } from './start-run';

/** Error of a run that could not be started, with all its reasons. */
export function StartRunError({ error }: { error: unknown }) {
  const reasons = graphErrors(error);
  return (
    <div className="flex flex-col gap-2">
      <Failure error={error} title="Couldn't start the run" />
      {reasons.length > 1 && (
        <ul className="flex list-disc flex-col gap-1 pl-6 text-sm break-words">
          {reasons.map((reason) => (
            <li key={reason}>{reason}</li>
          ))}
        </ul>
      )}
    </div>
  );
}
