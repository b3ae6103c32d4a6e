import type { Service } from './addresses.js';
import { printable } from './printable.js';

/** Make a text of a server printable, without the API key, because the text may quote the address of the request. */
export function redact(text: string, { token }: Service): string {
  if (token === null) return printable(text);
  // The last is the spelling in a query.
  const spellings = [token, encodeURIComponent(token), new URLSearchParams({ '': token }).toString().slice(1)];
  return printable(spellings.reduce((hidden, spelling) => hidden.replaceAll(spelling, '…'), text));
}
