import { type JsonValue, LEVEL_RULE, levelNamed, progressRequest } from '@yardmaster/protocol';

/** What a line of file descriptor 3 reports. */
export type Report =
  | { kind: 'progress'; body: JsonValue }
  | { kind: 'checkpoint' | 'event'; body: JsonValue }
  | { kind: 'log'; entry: { level: string; message: string; source?: string } };

/** A line that is no report. The message says what it must be. */
export class InvalidLine extends Error {}

/** Longest message of a log entry, in UTF-16 units. As JSON it may be larger; the service takes 16 KB. */
const MAX_MESSAGE = 4_000;

/** How the rest of a line is read, by its first word. */
const KINDS: Record<string, (rest: string) => Report> = {
  progress: progressIn,
  checkpoint: (rest) => ({ kind: 'checkpoint', body: jsonIn(rest) }),
  event: (rest) => ({ kind: 'event', body: jsonIn(rest) }),
  log(rest) {
    const [name = '', message] = wordOf(rest);
    const level = levelNamed(name);
    if (level === undefined) throw new InvalidLine(`level ${LEVEL_RULE}`);
    return { kind: 'log', entry: { level, message: message.slice(0, MAX_MESSAGE) } };
  },
};

/**
 * Read a line that a program wrote to file descriptor 3.
 *
 * @throws InvalidLine
 */
export function readReportLine(line: string): Report {
  const [word, rest] = wordOf(line);
  const read = Object.hasOwn(KINDS, word) ? KINDS[word] : undefined;
  if (read === undefined) throw new InvalidLine(`it must begin with ${Object.keys(KINDS).join(', ')}`);
  return read(rest);
}

/** Read `40 Resizing`, or the body of a progress report as JSON, which may have stages. */
function progressIn(rest: string): Report {
  const [percent, message] = wordOf(rest);
  const raw = rest.startsWith('{') ? jsonIn(rest) : { percent: numberIn(percent), message: message || `${percent}%` };
  const { success, data, error } = progressRequest.safeParse(raw);
  if (success) return { kind: 'progress', body: data as JsonValue };
  const { path, message: rule } = error.issues[0] ?? { path: [], message: 'is invalid' };
  throw new InvalidLine(`${path.join('.') || 'progress'} ${rule}`);
}

const numberIn = (text: string) => (/^\d+(\.\d+)?%?$/.test(text) ? Number.parseFloat(text) : null);

function jsonIn(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    throw new InvalidLine('what follows the first word must be JSON');
  }
}

/** Split a text at its first blanks. */
function wordOf(text: string): [word: string, rest: string] {
  const [, word = '', rest = ''] = /^\s*(\S*)\s*(.*)$/s.exec(text) ?? [];
  return [word, rest];
}
