// Files of the session's workspace.

import { Json } from '@/ui/fold';
import { bytes, count } from '@/ui/format';
import type { CardKinds, CardProps } from '../types';
import { useCardActions } from '../types';
import { FileList } from './file-list';
import { ScrollBox } from './parts';

const PICTURES = /^image\/(png|jpeg|gif|webp|avif)$/;

function FileListCard({ response }: CardProps<'workspace_file_list'>) {
  const { files, total_count } = response;
  const session = useSessionOf(response.session_id);
  if (files.length === 0) return <p className="text-muted">The workspace has no such files.</p>;
  return (
    <>
      <FileList files={files} sessionId={session} />
      {total_count > files.length && (
        <p className="text-xs text-muted">
          {count(files.length)} of {count(total_count)} files
        </p>
      )}
    </>
  );
}

function FileContentCard({ response }: CardProps<'workspace_file_content'>) {
  const { file, content, encoding, truncated } = response;
  const session = useSessionOf(response.session_id);
  const picture = encoding === 'base64' && PICTURES.test(file.mime_type) && !truncated;
  return (
    <>
      <FileList files={[file]} sessionId={session} />
      {picture && (
        <img
          src={`data:${file.mime_type};base64,${content}`}
          alt={file.name}
          className="max-h-80 max-w-full self-start rounded-lg border border-line"
        />
      )}
      {encoding === 'text' && (
        <ScrollBox label={`The text of ${file.name}`} className="bg-sunken p-3">
          <pre className="font-mono text-xs break-words whitespace-pre-wrap">{content}</pre>
        </ScrollBox>
      )}
      {encoding === 'base64' && !picture && <p className="text-muted">Not a text. Download it to see it.</p>}
      {truncated && <p className="text-xs text-muted">Only a part of it was read.</p>}
    </>
  );
}

function FileWrittenCard({ response, part }: CardProps<'workspace_file_written'>) {
  const session = useSessionOf(response.session_id);
  const written = (part.input as { content?: unknown } | undefined)?.content;
  return (
    <>
      <FileList files={[response.file]} sessionId={session} />
      {typeof written === 'string' && written && <Json value={written} limit={4_000} />}
    </>
  );
}

function FileDeletedCard({ response: { path } }: CardProps<'workspace_file_deleted'>) {
  return <p className="break-all">{path} is gone.</p>;
}

function useSessionOf(answered: string | null | undefined): string | null {
  const { sessionId } = useCardActions();
  return answered ?? sessionId;
}

export const files: CardKinds<
  'workspace_file_list' | 'workspace_file_content' | 'workspace_file_written' | 'workspace_file_deleted'
> = {
  workspace_file_list: {
    Card: FileListCard,
    note: ({ total_count }) => (total_count === 1 ? '1 file' : `${count(total_count)} files`),
  },
  workspace_file_content: { Card: FileContentCard, note: ({ file }) => bytes(file.size_bytes) },
  workspace_file_written: {
    Card: FileWrittenCard,
    opens: true,
    note: ({ file, created }) => `${created ? 'New' : 'Replaced'}, ${bytes(file.size_bytes)}`,
  },
  workspace_file_deleted: { Card: FileDeletedCard },
};
