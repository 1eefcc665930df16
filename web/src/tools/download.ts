// Downloads workspace files through the API client: a plain link could not send the credentials.

import { apiUrl } from '@/api/base';
import { request } from '@/api/client';
import { saveFile } from '@/lib/save-file';

export async function downloadWorkspaceFile(sessionId: string, fileId: string, name: string): Promise<void> {
  const route = `/api/workspace/files/${encodeURIComponent(fileId)}/download`;
  const response = await request(`${apiUrl(route)}?session_id=${encodeURIComponent(sessionId)}`);
  saveFile(name, await response.blob());
}
