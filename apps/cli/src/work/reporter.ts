import { isUtf8 } from 'node:buffer';
import { type JsonValue, LEVEL_RULE, levelNamed, progressRequest } from '@yardmaster/protocol';
import type { Context, SubProgress } from '@yardmaster/sdk';

/** Maximum number of unsent reports, while the service is slow or unavailable. Beyond it, the program blocks. */
const MAX_WAITING = 1_000;

/** Sends the reports of a program in order. */
export class Reporter {
  readonly #context: Context;
  readonly #notice: (text: string) => void;
  #lines = 0;
  #waiting = 0;
  #sent: Promise<void> = Promise.resolve();

  /** @param notice shows a sentence about a dropped report; it need not be printable */
  constructor(context: Context, notice: (text: string) => void) {
    this.#context = context;
    this.#notice = notice;
  }

  /**
   * Read a line of file descriptor 3 and send its report. Resolves when the program may write more.
   *
   * @param line null for a line that is too long
   */
  async readLine(line: Buffer | null): Promise<void> {
    this.#lines++;
    try {
      if (line === null) throw new InvalidLine('it is too long');
      if (!isUtf8(line)) throw new InvalidLine('it must be valid UTF-8');
      if (line.toString().trim() === '') return;
      this.#add(readReportLine(line.toString()));
    } catch (error) {
      if (!(error instanceof InvalidLine)) throw error;
      const message = `line ${this.#lines} of file descriptor 3 is invalid: ${error.message}`;
      this.#notice(message);
      this.#context.log.warn(message); // The author of the program looks at the log of the job.
    }
    if (this.#waiting >= MAX_WAITING) await this.#sent;
  }

  /** Wait until all reports are sent or dropped. */
  flush(): Promise<void> {
    return this.#sent;
  }

  #add(send: Report): void {
    this.#waiting++;
    this.#sent = this.#sent.then(async () => {
      try {
        await send(this.#context);
      } catch (error) {
        if (!this.#context.signal.aborted) this.#notice(`a report was dropped: ${(error as Error).message}`);
      }
      this.#waiting--;
    });
  }
}

/** Sends what a line of file descriptor 3 reports. */
export type Report = (context: Context) => unknown;

/** A line that is not a report. The message states what is wrong. */
export class InvalidLine extends Error {}

/** Maximum message of a log entry, in UTF-16 units. Encoded as JSON it may be larger; the service accepts 16 KB. */
const MAX_MESSAGE = 4_000;

/** Parsers of the rest of a line, by its first word. */
const KINDS: Record<string, (rest: string) => Report> = {
  progress: progressIn,
  checkpoint(rest) {
    const checkpoint = jsonIn(rest);
    return (context) => context.save(checkpoint);
  },
  event(rest) {
    const data = jsonIn(rest);
    return (context) => context.event(data);
  },
  log(rest) {
    const [name = '', message] = wordOf(rest);
    const level = levelNamed(name);
    if (level === undefined) throw new InvalidLine(`level ${LEVEL_RULE}`);
    return ({ log }) => log[level](message.slice(0, MAX_MESSAGE));
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
  if (read === undefined) throw new InvalidLine(`it must start with ${Object.keys(KINDS).join(', ')}`);
  return read(rest);
}

/** Parse `40 Resizing`, or the JSON body of a progress report, which may have stages. */
function progressIn(rest: string): Report {
  const [percent, message] = wordOf(rest);
  const raw = rest.startsWith('{') ? jsonIn(rest) : { percent: numberIn(percent), message: message || `${percent}%` };
  const { success, data, error } = progressRequest.safeParse(raw);
  if (success) return (context) => context.progress(data.percent, data.message, data.subProgress as SubProgress);
  const { path, message: rule } = error.issues[0] ?? { path: [], message: 'is invalid' };
  throw new InvalidLine(`${path.join('.') || 'progress'} ${rule}`);
}

const numberIn = (text: string) => (/^\d+(\.\d+)?%?$/.test(text) ? Number.parseFloat(text) : null);

function jsonIn(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    throw new InvalidLine('the text after the first word must be JSON');
  }
}

/** Split a text at its first whitespace. */
function wordOf(text: string): [word: string, rest: string] {
  const [, word = '', rest = ''] = /^\s*(\S*)\s*(.*)$/s.exec(text) ?? [];
  return [word, rest];
}
