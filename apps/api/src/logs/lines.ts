import type { BatchBounds, SentLog } from './elements.js';

/** The entries of NDJSON: one on each line, blank lines skipped. */
export function linesOf(body: Buffer, { logEntries }: BatchBounds): SentLog[] {
  const text = body.toString();
  const entries: SentLog[] = [];
  let lineNumber = 0;
  // Not split: five megabytes of line ends would make five million strings.
  for (let from = 0; from < text.length && entries.length <= logEntries; ) {
    const end = text.indexOf('\n', from);
    const to = end === -1 ? text.length : end;
    const name = `line ${++lineNumber}`;
    const json = text.slice(from, to).trim();
    from = to + 1;
    if (json !== '') entries.push({ json, nameOf: (field) => (field === '' ? name : `${name}: ${field}`) });
  }
  return entries;
}
