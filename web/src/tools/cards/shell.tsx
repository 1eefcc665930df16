// Card of a shell command and its output.

import { asRecord } from '@/lib/json';
import { CopyButton } from '@/ui/buttons/copy-button';
import { ScrollBox } from '@/ui/page/scroll-box';
import type { CardKinds, CardProps } from '../types';

function ShellCard({ response, part }: CardProps<'bash_exec'>) {
  const { stdout, stderr, exit_code, timed_out } = response;
  const { command } = asRecord(part.input);
  const isEmpty = !stdout && !stderr;
  return (
    <div className="relative overflow-hidden rounded-lg bg-sunken">
      <ScrollBox label="Command output" className="p-3 pr-12 font-mono text-xs">
        {typeof command === 'string' && (
          <pre className="mb-1 break-words whitespace-pre-wrap">
            <span aria-hidden className="text-accent select-none">
              ${' '}
            </span>
            {command}
          </pre>
        )}
        {stdout && <pre className="break-words whitespace-pre-wrap">{stdout}</pre>}
        {stderr && <pre className="break-words whitespace-pre-wrap text-bad">{stderr}</pre>}
        {isEmpty && <p className="text-muted">{exit_code === undefined ? response.message : 'No output'}</p>}
      </ScrollBox>
      {!isEmpty && (
        <div className="absolute top-1 right-1">
          <CopyButton text={[stdout, stderr].filter(Boolean).join('\n')} label="Copy output" />
        </div>
      )}
      {timed_out && <p className="border-t border-line px-3 py-2 text-xs text-warn">{response.message}</p>}
    </div>
  );
}

export const shell: CardKinds<'bash_exec'> = {
  bash_exec: {
    Card: ShellCard,
    note: ({ exit_code, timed_out }) =>
      timed_out
        ? 'Timed out'
        : typeof exit_code === 'number' && exit_code !== 0
          ? `Exit code ${exit_code}`
          : null,
    status: ({ exit_code, timed_out }) => (timed_out || (exit_code ?? 0) !== 0 ? 'failed' : 'done'),
  },
};
