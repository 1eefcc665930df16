// Files of a workspace come through the API, with our identity: a plain link could not carry it.

import { addressOf } from '@/api/base';
import { request } from '@/api/client';

export async function downloadWorkspaceFile(sessionId: string, fileId: string, name: string): Promise<void> {
  const route = `/api/workspace/files/${encodeURIComponent(fileId)}/download`;
  const response = await request(`${addressOf(route)}?session_id=${encodeURIComponent(sessionId)}`);
  const address = URL.createObjectURL(await response.blob());
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The browser has taken it by the next turn of the loop.
  setTimeout(() => URL.revokeObjectURL(address), 0);
}
