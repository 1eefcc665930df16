// Downloads workspace files through the API client: a plain link could not send the credentials.

import { apiUrl } from '@/api/base';
import { request } from '@/api/client';

export async function downloadWorkspaceFile(sessionId: string, fileId: string, name: string): Promise<void> {
  const route = `/api/workspace/files/${encodeURIComponent(fileId)}/download`;
  const response = await request(`${apiUrl(route)}?session_id=${encodeURIComponent(sessionId)}`);
  const address = URL.createObjectURL(await response.blob());
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The download has started by the next task, so the URL can be released.
  setTimeout(() => URL.revokeObjectURL(address), 0);
}
