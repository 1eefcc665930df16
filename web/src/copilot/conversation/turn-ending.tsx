// Shown at the end of a turn that failed or was stopped.

import { Link } from '@tanstack/react-router';
import { CircleAlert, CircleStop, RotateCw } from 'lucide-react';
import { Button, buttonClasses } from '@/ui/buttons/button';
import { Fold } from '@/ui/page/fold';

type FailureProps = {
  code: string | null;
  message: string;
  /** Whether a retry may succeed. */
  canRetry: boolean;
  /** Absent when it isn't the last turn, or while a turn is running. */
  onRetry?: () => void;
};

/** Additional advice for codes whose message doesn't say what to do. */
const ADVICE: Record<string, string> = {
  idle_timeout: 'The model stopped responding. Retrying often helps.',
  transient_api_error: 'The model provider is overloaded or unreachable. Try again in a moment.',
  provider_auth: "The model provider rejected this server's API key. Ask your administrator to update it.",
  provider_refused: 'The model provider declined this request. Try rephrasing it.',
  context_too_long: 'This chat is too long for the model. Start a new one.',
  crash_loop: 'The server crashed three times while answering this.',
  max_budget_exhausted: 'This response reached its cost limit. Try a smaller request.',
  max_time_exhausted: 'This response reached its time limit. Try a smaller request.',
  max_turns_exhausted: 'This response reached its step limit. Try a smaller request.',
};

export function TurnFailed({ code, message, canRetry, onRetry }: FailureProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a section would be a landmark, and several turns may have failed.
    <div
      role="group"
      aria-label="Something went wrong"
      className="flex flex-col gap-2 rounded-xl border border-bad/30 bg-bad-soft px-4 py-3"
    >
      <div className="flex flex-wrap items-start gap-3">
        <CircleAlert aria-hidden className="mt-0.5 size-5 shrink-0 text-bad" />
        <div className="min-w-0 flex-1 basis-48">
          <p className="font-medium">Something went wrong</p>
          <p className="text-sm [overflow-wrap:anywhere]">{message}</p>
        </div>
        {code === 'context_too_long' ? (
          <Link to="/copilot" search={{}} className={buttonClasses('secondary')}>
            New chat
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

export function TurnStopped({ onRetry }: { onRetry?: () => void }) {
  return (
    <div className="flex flex-wrap items-center gap-2 text-sm text-muted">
      <CircleStop aria-hidden className="size-4 shrink-0" />
      <span>Stopped.</span>
      {onRetry && (
        <Button
          kind="quiet"
          size="small"
          icon={<RotateCw aria-hidden className="size-4" />}
          onClick={onRetry}
        >
          Regenerate
        </Button>
      )}
    </div>
  );
}
