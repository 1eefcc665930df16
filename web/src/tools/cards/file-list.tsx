import { Download, File, FileImage, FileText } from 'lucide-react';
import { useState } from 'react';
import { errorMessage } from '@/api/problem';
import type { WorkspaceFile } from '@/protocol';
import { IconButton } from '@/ui/buttons/button';
import { Spinner } from '@/ui/feedback/spinner';
import { showToast } from '@/ui/feedback/toast';
import { bytes } from '@/ui/text/format';
import { downloadWorkspaceFile } from '../download';
import { Row, Rows } from './parts';

/** Files with their size and a download button. Without a session there is no download. */
export function FileList({
  files,
  sessionId,
}: {
  files: readonly WorkspaceFile[];
  sessionId: string | null;
}) {
  return (
    <Rows>
      {files.map((file) => (
        <FileRow key={file.file_id} file={file} sessionId={sessionId} />
      ))}
    </Rows>
  );
}

function FileRow({ file, sessionId }: { file: WorkspaceFile; sessionId: string | null }) {
  const [busy, setBusy] = useState(false);
  const Icon = file.mime_type?.startsWith('image/')
    ? FileImage
    : file.mime_type?.startsWith('text/')
      ? FileText
      : File;
  const download = async () => {
    if (!sessionId) return;
    setBusy(true);
    try {
      await downloadWorkspaceFile(sessionId, file.file_id, file.name);
    } catch (error) {
      showToast(`Couldn't download ${file.name}. ${errorMessage(error)}`, 'bad');
    } finally {
      setBusy(false);
    }
  };
  return (
    <Row className="flex items-center gap-2.5 py-1.5">
      <Icon aria-hidden className="size-4 shrink-0 text-muted" />
      <span className="min-w-0 flex-1 break-all">{file.path || file.name}</span>
      <span className="shrink-0 text-xs text-muted tabular-nums">{bytes(file.size_bytes)}</span>
      {sessionId && (
        <IconButton label={`Download ${file.name}`} disabled={busy} onClick={download}>
          {busy ? <Spinner /> : <Download className="size-4" />}
        </IconButton>
      )}
    </Row>
  );
}
