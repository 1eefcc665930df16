/** Firefox and Safari may start a download some time after the click, and need the URL until then. */
const REVOKE_AFTER_MS = 60_000;

/** Downloads data as a file. */
export function saveFile(name: string, data: Blob): void {
  const address = URL.createObjectURL(data);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), REVOKE_AFTER_MS);
}

/** The name without characters that file systems reject. */
export function fileName(name: string): string {
  const safe = Array.from(name, (letter) => (/[\p{Cc}\\/:*?"<>|]/u.test(letter) ? ' ' : letter)).join('');
  return safe.replace(/\s+/g, ' ').trim().slice(-100) || 'file';
}
