/** Range of bytes: the offset of the first byte, and the offset after the last. */
export interface Part {
  from: number;
  to: number;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;

/**
 * Find the elements of an array or the members of an object in JSON text without parsing them. This takes a third of the
 * time of parsing and almost no memory. A part may be invalid JSON, for example because mismatched brackets close it; only
 * parsing reveals that.
 *
 * @param json UTF-8, in which brackets, quotes and commas are never part of another character
 * @param open offset of the opening bracket
 * @param most number of parts after which the scan stops
 * @returns up to `most` + 1 parts, and the offset after the closing bracket if the scan reached it. Null if the text ends
 *   early, the closing bracket doesn't match the opening one, or a part is missing next to a comma
 */
export function partsOf(json: Buffer, open: number, most: number): Found | null {
  const parts: Part[] = [];
  let from = open + 1;
  let depth = 0;
  for (let at = open; at < json.length; at++) {
    const byte = json[at] as number;
    if (byte === QUOTE) at = endOfString(json, at);
    else if (byte !== COMMA) depth += depthOf(byte);
    if (depth === 0) return closed(json, open, { parts, last: { from, to: at } });
    if (byte !== COMMA || depth > 1) continue;
    if (isBlank(json, { from, to: at })) return null;
    parts.push({ from, to: at });
    if (parts.length > most) return { parts, end: json.length };
    from = at + 1;
  }
  return null;
}

/** Return how a byte changes the depth: 1 for `[` and `{`, -1 for `]` and `}`. */
function depthOf(byte: number): number {
  if (byte < 0x5b) return 0; // Digits, blanks, colons.
  if (byte === 0x5b || byte === 0x7b) return 1;
  return byte === 0x5d || byte === 0x7d ? -1 : 0;
}

type Found = { parts: Part[]; end: number };

/** Check the closing bracket. Empty brackets have no parts; an empty part after a comma or a wrong bracket is invalid. */
function closed(json: Buffer, open: number, { parts, last }: { parts: Part[]; last: Part }): Found | null {
  // The codes of `]` and `}` are two above those of `[` and `{`.
  if (json[last.to] !== (json[open] as number) + 2) return null;
  if (!isBlank(json, last)) parts.push(last);
  else if (parts.length > 0) return null;
  return { parts, end: last.to + 1 };
}

/** Return the offset of the quote that ends a string; without one, an offset at or past the end of the text. */
export function endOfString(json: Buffer, open: number): number {
  let at = open + 1;
  for (; at < json.length && json[at] !== QUOTE; at++) if (json[at] === BACKSLASH) at++;
  return at;
}

/** Return the offset of the first non-blank byte at or after `from`. */
export function skipBlanks(json: Buffer, from: number): number {
  let at = from;
  while (isBlankByte(json[at])) at++;
  return at;
}

/** Return the text of a part without surrounding blanks. */
export function textOf(json: Buffer, { from, to }: Part): string {
  let end = to;
  while (end > from && isBlankByte(json[end - 1])) end--;
  return json.toString('utf8', skipBlanks(json, from), end);
}

const isBlank = (json: Buffer, { from, to }: Part) => skipBlanks(json, from) >= to;

/** Return whether a byte is a space, line feed, carriage return or tab, the only blanks in JSON. */
export const isBlankByte = (byte: number | undefined) =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
