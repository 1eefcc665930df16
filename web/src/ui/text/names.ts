// Formats identifiers as readable names.

/** `tax_percent` and `taxPercent` become "Tax percent"; names with spaces are kept. */
export function humanName(name: string): string {
  const trimmed = name.trim();
  if (!trimmed || /\s/.test(trimmed)) return trimmed;
  const words = trimmed
    .replace(/[_-]+/g, ' ')
    .replace(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .trim()
    .split(/\s+/);
  const lowered = words.map((word) => {
    const small = word.toLowerCase();
    if (ABBREVIATIONS.has(small)) return small.toUpperCase();
    return isAbbreviation(word) ? word : small;
  });
  const text = lowered.join(' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** `SendWebRequestBlock` becomes "Send web request". */
export function blockName(name: string): string {
  return humanName(name.replace(/(?<=.)Block$/, ''));
}

const ABBREVIATIONS = new Set(['ai', 'api', 'csv', 'html', 'http', 'id', 'json', 'rss', 'sql', 'url', 'xml']);

function isAbbreviation(word: string): boolean {
  return word.length > 1 && word === word.toUpperCase() && /\p{Lu}/u.test(word);
}
