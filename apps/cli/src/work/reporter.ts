import { type JsonValue, LEVEL_RULE, levelNamed, progressRequest } from '@yardmaster/protocol';
import { Refused } from '../service/call.js';
import { isOfKey, JobLost, type Post } from './job-calls.js';

/** Reports that wait while the service is slow or away. When there are more, the program waits too. */
const MAX_WAITING = 1_000;

/** Log entries in one call. */
const MAX_ENTRIES = 500;

interface ReporterOptions {
  post: Post;
  /** Shows a sentence about a report that is dropped. It need not be printable. */
  notice: (text: string) => void;
  /** Called when the job is lost, or when the worker may not report about it. */
  onLost: (error: unknown) => void;
}

/** Sends the reports of a program, in their order. */
export class Reporter {
  readonly #options: ReporterOptions;
  readonly #waiting: Report[] = [];
  #sending: Promise<void> | null = null;
  #lines = 0;
  #isStopped = false;

  constructor(options: ReporterOptions) {
    this.#options = options;
  }

  /**
   * Read a line of file descriptor 3 and send its report. Resolves when the program may write more.
   *
   * @param line null for one that is too long
   */
  async readLine(line: string | null): Promise<void> {
    this.#lines++;
    if (line?.trim() === '') return;
    try {
      if (line === null) throw new InvalidLine('it is too long');
      this.#add(readReportLine(line));
    } catch (error) {
      if (!(error instanceof InvalidLine)) throw error;
      // Also in the log of the job, where the author of the program looks.
      const message = `line ${this.#lines} of file descriptor 3 is invalid: ${error.message}`;
      this.#options.notice(message);
      this.#add({ kind: 'log', entry: { level: 'warn', message, source: 'yardmaster' } });
    }
    if (this.#waiting.length >= MAX_WAITING) await this.#sending;
  }

  /** Wait until all reports are sent or dropped. */
  async flush(): Promise<void> {
    await this.#sending;
  }

  #add(report: Report): void {
    if (this.#isStopped) return;
    const last = this.#waiting.at(-1);
    // Only the newest progress matters.
    if (report.kind === 'progress' && last?.kind === 'progress') this.#waiting.pop();
    this.#waiting.push(report);
    this.#sending ??= this.#sendAll();
  }

  async #sendAll(): Promise<void> {
    await Promise.resolve(); // What was written together is sent together.
    while (this.#waiting.length > 0) {
      try {
        await this.#sendNext();
      } catch (error) {
        if (error instanceof Refused && !isOfKey(error)) {
          this.#options.notice(`a report was dropped: ${error.message}`);
          continue;
        }
        this.#isStopped = true;
        this.#waiting.length = 0;
        if (error instanceof JobLost || error instanceof Refused) this.#options.onLost(error);
        // Otherwise the worker has given up; the attempt reports that.
      }
    }
    this.#sending = null; // Not in a later microtask, because a report that is added before it would never be sent.
  }

  async #sendNext(): Promise<void> {
    const { post } = this.#options;
    const [next] = this.#waiting;
    if (next === undefined) return;
    if (next.kind !== 'log') {
      this.#waiting.shift();
      await post(next.kind, next.body);
      return;
    }
    const end = this.#waiting.findIndex(({ kind }) => kind !== 'log');
    const logs = this.#waiting.splice(0, Math.min(MAX_ENTRIES, end === -1 ? this.#waiting.length : end));
    await post('logs', { logs: logs.map((report) => report.kind === 'log' && report.entry) });
  }
}

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
