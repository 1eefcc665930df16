/** Hands a text to the browser as a file to keep. */
export function saveAsFile(name: string, text: string, type = 'application/json'): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = fileName(name);
  link.click();
  // The browser has taken it by the next turn of the loop.
  setTimeout(() => URL.revokeObjectURL(address), 0);
}

/** Without what file systems do not take. */
export function fileName(name: string): string {
  const safe = Array.from(name, (letter) => (/[\p{Cc}\\/:*?"<>|]/u.test(letter) ? ' ' : letter)).join('');
  return safe.replace(/\s+/g, ' ').trim().slice(-100) || 'file';
}
