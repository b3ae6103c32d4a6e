import type { IncomingMessage, ServerResponse } from 'node:http';
import { invalidRequest, type UnknownName, unknownFaults } from '@yardmaster/protocol';

/**
 * Refuse the unknown fields of a body if the client prefers that; otherwise list them in a header of the response, which
 * may be an error.
 *
 * @param isStrict whether the endpoint refuses them in any case
 * @throws INVALID_REQUEST
 */
export function reportUnknownFields(
  req: IncomingMessage,
  res: ServerResponse,
  found: readonly UnknownName[],
  isStrict = false,
): void {
  const isPreferred = prefersStrict(req.headers.prefer);
  if (found.length > 0 && (isStrict || isPreferred)) throw invalidRequest(unknownFaults('field', found));
  if (isPreferred) res.setHeader('preference-applied', 'handling=strict');
  else if (found.length > 0) res.setHeader('x-ignored-fields', listOf(found));
}

/** One preference of a list, in which quoted commas do not separate. */
const PREFERENCE = /(?:"[^"]*"|[^",])+/g;
const HANDLING = /^\s*handling\s*=\s*("?)(\w+)\1\s*(?:;|$)/i;

/** Whether the first preference about handling is `handling=strict`. @see RFC 7240 §2, §4.4 */
function prefersStrict(prefer: string | string[] | undefined): boolean {
  if (prefer === undefined) return false;
  for (const preference of String(prefer).match(PREFERENCE) ?? []) {
    const handling = HANDLING.exec(preference)?.[2];
    if (handling !== undefined) return handling.toLowerCase() === 'strict';
  }
  return false;
}

/** Most characters of the list: proxies refuse responses whose headers have more than 4 KB. */
const LIST_CHARACTERS = 2_048;

/** Write the paths of fields as a list in ASCII, from which `decodeURIComponent` gets each path back. */
function listOf(found: readonly UnknownName[]): string {
  let list = '';
  for (const { path } of found) {
    const item = path.toWellFormed().replace(/[^\w.[\]-]+/g, encodeURIComponent);
    if (list.length + item.length > LIST_CHARACTERS) break;
    if (item !== '') list += list === '' ? item : `, ${item}`;
  }
  return list;
}
