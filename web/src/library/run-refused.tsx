import { Failure } from '@/ui/states';
import { graphErrors } from './start-run';

/** Why a run was not started, with every reason where there are several. */
export function RunRefused({ error }: { error: unknown }) {
  const reasons = graphErrors(error);
  return (
    <div className="flex flex-col gap-2">
      <Failure error={error} title="The run was not started" />
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
