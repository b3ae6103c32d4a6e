import type { BatchBounds, SentLog } from './json-entries.js';
import { isBlankByte, textOf } from './json-parts.js';

const LINE_END = 0x0a;

/** Return the entries of NDJSON: one on each line, blank lines skipped. */
export function ndjsonEntriesOf(body: Buffer, { logEntries }: BatchBounds): SentLog[] {
  const entries: SentLog[] = [];
  let lineNumber = 1;
  for (let at = 0; at < body.length && entries.length <= logEntries; at++) {
    const byte = body[at] as number;
    if (byte === LINE_END) lineNumber++;
    if (isBlankByte(byte)) continue;
    const end = body.indexOf(LINE_END, at);
    const to = end === -1 ? body.length : end;
    entries.push({ json: textOf(body, { from: at, to }), pathForErrors: nameOfLine(lineNumber) });
    at = to - 1; // The line's end is counted like that of a blank line.
  }
  return entries;
}

const nameOfLine = (lineNumber: number) => (field: string) =>
  field === '' ? `line ${lineNumber}` : `line ${lineNumber}: ${field}`;
