// How a turn ended when it did not end well: it failed, or somebody stopped it.

import { Link } from '@tanstack/react-router';
import { CircleAlert, CircleStop, RotateCw } from 'lucide-react';
import { Button, buttonClasses } from '@/ui/button';
import { Fold } from '@/ui/fold';

type FailureProps = {
  code: string | null;
  message: string;
  /** Whether the same message may succeed another time. */
  canRetry: boolean;
  /** Absent when it is not the last turn, or when something is at work. */
  onRetry?: () => void;
};

/** Says what may help, for the codes where the sentence beside them does not. */
const ADVICE: Record<string, string> = {
  idle_timeout: 'The model said nothing for too long. Trying again often helps.',
  transient_api_error: 'The provider of the model is overloaded or cannot be reached. Try again in a moment.',
  provider_auth:
    'The provider of the model refuses the key of this server. Whoever runs it has to correct it.',
  provider_refused: 'The provider of the model refuses this request. Say it in another way.',
  context_too_long: 'This session has grown too long for the model. Go on in a new one.',
  crash_loop: 'The server went down three times in this turn.',
  max_budget_exhausted: 'The turn became more expensive than it may be. Ask for less at once.',
  max_time_exhausted: 'The turn took longer than it may. Ask for less at once.',
  max_turns_exhausted: 'The turn took more steps than it may. Ask for less at once.',
};

export function TurnFailed({ code, message, canRetry, onRetry }: FailureProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a section would be a landmark, and several turns may have failed.
    <div
      role="group"
      aria-label="The turn failed"
      className="flex flex-col gap-2 rounded-xl border border-bad/30 bg-bad-soft px-4 py-3"
    >
      <div className="flex flex-wrap items-start gap-3">
        <CircleAlert aria-hidden className="mt-0.5 size-5 shrink-0 text-bad" />
        <div className="min-w-0 flex-1 basis-48">
          <p className="font-medium">The turn failed</p>
          <p className="text-sm [overflow-wrap:anywhere]">{message}</p>
        </div>
        {code === 'context_too_long' ? (
          <Link to="/copilot" search={{}} className={buttonClasses('secondary')}>
            New session
          </Link>
        ) : (
          onRetry && (
            <Button
              kind={canRetry ? 'primary' : 'secondary'}
              icon={<RotateCw aria-hidden className="size-4" />}
              onClick={onRetry}
            >
              Try again
            </Button>
          )
        )}
      </div>
      {code && (
        <Fold title="Details">
          {ADVICE[code] && <p className="text-sm">{ADVICE[code]}</p>}
          <p className="mt-1 text-sm text-muted">
            Code <code className="font-mono text-xs">{code}</code>
          </p>
        </Fold>
      )}
    </div>
  );
}

export function Stopped({ onRetry }: { onRetry?: () => void }) {
  return (
    <div className="flex flex-wrap items-center gap-2 text-sm text-muted">
      <CircleStop aria-hidden className="size-4 shrink-0" />
      <span>This answer was stopped.</span>
      {onRetry && (
        <Button
          kind="quiet"
          size="small"
          icon={<RotateCw aria-hidden className="size-4" />}
          onClick={onRetry}
        >
          Answer again
        </Button>
      )}
    </div>
  );
}
