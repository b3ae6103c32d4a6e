const ENTITIES = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', ndash: '–', mdash: '—', hellip: '…' };

/**
 * Convert HTML to plain text, one line per block. Good enough for an example; an HTML parser does it better.
 *
 * No pattern reads any part of the page more than a few times, so a hostile page can't block the worker.
 */
export const textOf = (html) =>
  html
    .replace(/<!--[\s\S]*?(?:-->|$)/g, '')
    .replace(/<(script|style|template|noscript)\b[\s\S]*?(?:<\/\1\b|$)/gi, '<')
    .replace(/\s+/g, ' ')
    .replace(
      /<\/?(?:article|blockquote|br|dd|div|dt|h[1-6]|header|footer|li|main|nav|ol|p|section|table|title|tr|ul)\b/gi,
      '\n$&',
    )
    .replace(/<[^<>]*>/g, '')
    .replace(/&(#\d+|#x[\da-f]+|[a-z]+);/gi, characterOf)
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .join('\n');

function characterOf(entity, name) {
  if (!name.startsWith('#')) return ENTITIES[name.toLowerCase()] ?? entity;
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : entity;
}
