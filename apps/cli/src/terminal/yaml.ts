import { Document, visit } from 'yaml';
import { escapeUnsafe } from './printable.js';

/** Format a JSON value as a YAML document that is safe to print, with unsafe characters as escapes. */
export function yamlDocument(value: unknown): string {
  // Quote strings such as `no` and timestamps, which YAML 1.1 parsers would convert.
  const document = new Document(value, { aliasDuplicateObjects: false, compat: 'yaml-1.1' });
  visit(document, {
    Scalar(_, scalar) {
      // YAML has escapes only in double quotes.
      if (typeof scalar.value === 'string' && escapeUnsafe(scalar.value) !== scalar.value) scalar.type = 'QUOTE_DOUBLE';
    },
  });
  return escapeUnsafe(`---\n${document.toString({ lineWidth: 0 }).replace(/\n$/, '')}`);
}
