import type { Service } from './addresses.js';
import { printable } from './printable.js';

/** What servers say, which may quote the address that was asked for, is printed without the key in it. */
export function speakable(text: string, { token }: Service): string {
  if (token === null) return printable(text);
  // The last is how a query spells it.
  const spellings = [token, encodeURIComponent(token), new URLSearchParams({ '': token }).toString().slice(1)];
  return printable(spellings.reduce((hidden, spelling) => hidden.replaceAll(spelling, '…'), text));
}
