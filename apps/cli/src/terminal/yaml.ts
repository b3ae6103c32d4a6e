import { Document, visit } from 'yaml';
import { escapeUnsafe } from './printable.js';

/** Write a JSON value as a YAML document that is safe to print: the same value, with unsafe characters as escapes. */
export function yamlDocument(value: unknown): string {
  // Strings such as `no` and timestamps are quoted for readers of YAML 1.1.
  const document = new Document(value, { aliasDuplicateObjects: false, compat: 'yaml-1.1' });
  visit(document, {
    Scalar(_, scalar) {
      // YAML has escapes only in double quotes.
      if (typeof scalar.value === 'string' && escapeUnsafe(scalar.value) !== scalar.value) scalar.type = 'QUOTE_DOUBLE';
    },
  });
  return escapeUnsafe(`---\n${document.toString({ lineWidth: 0 }).replace(/\n$/, '')}`);
}
