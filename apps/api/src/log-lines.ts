import type { SentLog } from './log-batch.js';

/**
 * The entries of NDJSON: one on each line, blank lines skipped.
 *
 * @param most no more than one above this are read: whoever sent more will hear of that, and of nothing else
 */
export function linesOf(text: string, most: number): SentLog[] {
  const entries: SentLog[] = [];
  let lineNumber = 0;
  // Not split: five megabytes of line ends would make five million strings.
  for (let from = 0; from < text.length && entries.length <= most; ) {
    const end = text.indexOf('\n', from);
    const to = end === -1 ? text.length : end;
    const name = `line ${++lineNumber}`;
    const line = text.slice(from, to);
    from = to + 1;
    if (line.trim() === '') continue;
    entries.push({ value: jsonOf(line), nameOf: (field) => (field === '' ? name : `${name}: ${field}`) });
  }
  return entries;
}

/** No JSON text means undefined. */
function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
