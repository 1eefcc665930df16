// Cards of workspace files.

import { ScrollBox } from '@/ui/page/scroll-box';
import { bytes, count } from '@/ui/text/format';
import { Json } from '@/ui/values/json';
import type { CardKinds, CardProps } from '../types';
import { useCardActions } from '../types';
import { FileList } from './file-list';

const IMAGES = /^image\/(png|jpeg|gif|webp|avif)$/;

function FileListCard({ response }: CardProps<'workspace_file_list'>) {
  const { files, total_count } = response;
  const session = useSessionOf(response.session_id);
  if (files.length === 0) return <p className="text-muted">No files found.</p>;
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
  const image = encoding === 'base64' && IMAGES.test(file.mime_type) && !truncated;
  return (
    <>
      <FileList files={[file]} sessionId={session} />
      {image && (
        <img
          src={`data:${file.mime_type};base64,${content}`}
          alt={file.name}
          className="max-h-80 max-w-full self-start rounded-lg border border-line"
        />
      )}
      {encoding === 'text' && (
        <ScrollBox label={`Contents of ${file.name}`} className="bg-sunken p-3">
          <pre className="font-mono text-xs break-words whitespace-pre-wrap">{content}</pre>
        </ScrollBox>
      )}
      {encoding === 'base64' && !image && (
        <p className="text-muted">Can't preview this file. Download it to open it.</p>
      )}
      {truncated && <p className="text-xs text-muted">Truncated.</p>}
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
  return <p className="break-all">Deleted {path}.</p>;
}

function useSessionOf(responseSessionId: string | null | undefined): string | null {
  const { sessionId } = useCardActions();
  return responseSessionId ?? sessionId;
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
    note: ({ file, created }) => `${created ? 'Created' : 'Replaced'}, ${bytes(file.size_bytes)}`,
  },
  workspace_file_deleted: { Card: FileDeletedCard },
};
