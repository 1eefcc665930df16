import { RotateCw } from 'lucide-react';
import type { CopilotMessage } from '@/session/types';
import { IconButton } from '@/ui/buttons/button';
import { CopyButton } from '@/ui/buttons/copy-button';
import { classes } from '@/ui/classes';
import { count, dollars, duration, when } from '@/ui/text/format';
import { textOf } from './response-sections';

type Props = {
  message: CopilotMessage;
  last: boolean;
  /** Absent where the response can't be regenerated. */
  onRetry?: () => void;
};

/** The actions and metadata of a response. Hidden until hovered, except for the last response. */
export function ResponseFooter({ message, last, onRetry }: Props) {
  const { createdAt, durationMs, model, promptTokens, completionTokens, costMicrodollars } =
    message.metadata ?? {};
  const text = textOf(message);
  const tokens = (promptTokens ?? 0) + (completionTokens ?? 0);
  return (
    <footer
      className={classes(
        '-mb-3 flex min-h-8 flex-wrap items-center gap-x-3 text-xs text-muted transition-opacity',
        !last &&
          '[@media(hover:hover)]:opacity-0 group-hover/response:opacity-100 group-focus-within/response:opacity-100',
      )}
    >
      {text && <CopyButton text={text} label="Copy" className="-ml-2" />}
      {onRetry && (
        <IconButton label="Regenerate" className="-ml-3" onClick={onRetry}>
          <RotateCw aria-hidden className="size-4" />
        </IconButton>
      )}
      {durationMs !== undefined && <span title="Response time">{duration(durationMs)}</span>}
      {tokens > 0 && (
        <span title={`${count(promptTokens ?? 0)} input, ${count(completionTokens ?? 0)} output`}>
          {count(tokens)} tokens
        </span>
      )}
      {costMicrodollars !== undefined && costMicrodollars > 0 && <span>{dollars(costMicrodollars)}</span>}
      {model && <span className="min-w-0 truncate">{model}</span>}
      {createdAt && (
        <time dateTime={createdAt} className="hidden sm:inline">
          {when(createdAt)}
        </time>
      )}
    </footer>
  );
}
