import { RotateCw } from 'lucide-react';
import type { CopilotMessage } from '@/session/types';
import { IconButton } from '@/ui/button';
import { classes } from '@/ui/classes';
import { CopyButton } from '@/ui/copy-button';
import { count, dollars, duration, when } from '@/ui/format';
import { wordsOf } from './blocks';

type Props = {
  message: CopilotMessage;
  last: boolean;
  /** Absent where another answer cannot be had. */
  onRetry?: () => void;
};

/** What is known about an answer: when, how long, by whom and at what cost. Faint until one looks, but for the last. */
export function Footer({ message, last, onRetry }: Props) {
  const { createdAt, durationMs, model, promptTokens, completionTokens, costMicrodollars } =
    message.metadata ?? {};
  const words = wordsOf(message);
  const tokens = (promptTokens ?? 0) + (completionTokens ?? 0);
  return (
    <footer
      className={classes(
        '-mb-3 flex min-h-8 flex-wrap items-center gap-x-3 text-xs text-muted transition-opacity',
        !last &&
          '[@media(hover:hover)]:opacity-0 group-hover/answer:opacity-100 group-focus-within/answer:opacity-100',
      )}
    >
      {words && <CopyButton text={words} label="Copy the answer" className="-ml-2" />}
      {onRetry && (
        <IconButton label="Answer again" className="-ml-3" onClick={onRetry}>
          <RotateCw aria-hidden className="size-4" />
        </IconButton>
      )}
      {durationMs !== undefined && <span title="How long the turn took">{duration(durationMs)}</span>}
      {tokens > 0 && (
        <span title={`${count(promptTokens ?? 0)} read, ${count(completionTokens ?? 0)} written`}>
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
