/** Downloads a text as a file. */
export function saveAsFile(name: string, text: string, type = 'application/json'): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = fileName(name);
  link.click();
  // The download has started by the next task, so the URL can be released.
  setTimeout(() => URL.revokeObjectURL(address), 0);
}

/** The name without characters that file systems reject. */
export function fileName(name: string): string {
  const safe = Array.from(name, (letter) => (/[\p{Cc}\\/:*?"<>|]/u.test(letter) ? ' ' : letter)).join('');
  return safe.replace(/\s+/g, ' ').trim().slice(-100) || 'file';
}
