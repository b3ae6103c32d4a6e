import { containsAll, isJsonObject, type JsonObject, LIMITS, type LogLevel } from '@yardmaster/protocol';
import { type CallOptions, call, Refused } from '../service/call.js';
import { jobPath, type Query, type Service } from '../service/service.js';

/** Page size: the maximum of the service. */
const PAGE = 500;

/** Extra time for a response, because a page can have 8 MB and the connection can be slow. */
const MORE_MS = 50_000;

/** A page of log entries, which are not validated. */
interface RawPage {
  logs: JsonObject[];
  cursor: { oldestSeq: number; newestSeq: number; hasMore: boolean };
}

/** Filters for the entries to print. */
export interface LogFilters {
  /** Levels to print; empty for all. */
  levels: LogLevel[];
  /** Text that messages must contain, ignoring case; null for any message. */
  grep: string | null;
}

interface LogReaderOptions extends Required<Pick<CallOptions, 'signal' | 'onLost'>> {
  service: Service;
  jobId: string;
  filters: LogFilters;
  /** Called after each response. */
  onReply: () => void;
  /** Print entries. Resolves when the output can take more. */
  print: (entries: JsonObject[]) => Promise<void>;
  /** Called if entries were replaced by newer ones before they could be read. */
  onDropped: (fromSeq: number, toSeq: number) => void;
  /** Called if the service has lost its newest entries, which were already printed. */
  onLostEntries: (fromSeq: number, toSeq: number) => void;
}

/** Reads the log of a job, and prints each entry exactly once. */
export class LogReader {
  readonly #options: LogReaderOptions;
  readonly #matches: (message: string) => boolean;
  /** Seq up to which all entries are printed. */
  #position = 0;
  /** Highest known seq. */
  #target = 0;
  /** Whether there may be entries beyond the target. */
  #mustLook = false;
  #wasDisconnected = false;
  #running: Promise<void> | null = null;

  constructor(options: LogReaderOptions) {
    this.#options = options;
    const { grep } = options.filters;
    // The service searches for words; this checks that they form the phrase.
    this.#matches = grep === null ? () => true : containsAll([grep]);
  }

  /** Print the newest entries, and set the position after them. */
  async printNewest(count: number): Promise<void> {
    const newest: JsonObject[] = [];
    if (count === 0) this.#position = (await this.#page({ limit: 1 }, { isFiltered: false })).cursor.newestSeq;
    for (let before: number | null = null; newest.length < count; ) {
      // For a text with quotes, the service returns entries that don't match, so read whole pages.
      const limit = this.#options.filters.grep?.includes('"') ? PAGE : Math.min(PAGE, count - newest.length);
      const page: RawPage = await this.#page(before === null ? { limit } : { limit, before });
      if (before === null) this.#position = page.cursor.newestSeq;
      newest.unshift(...this.#wanted(page));
      before = page.cursor.oldestSeq;
      if (!page.cursor.hasMore) break;
    }
    await this.#options.print(count === 0 ? [] : newest.slice(-count));
  }

  /**
   * Print all entries after the position. While it runs, another call only raises its target.
   *
   * @param toSeq highest known seq; null to check for new entries
   */
  printUntil(toSeq: number | null): Promise<void> {
    if (toSeq === null) this.#mustLook = true;
    else this.#target = Math.max(this.#target, toSeq);
    this.#running ??= this.#printAll().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async #printAll(): Promise<void> {
    while (this.#mustLook || this.#position < this.#target) {
      this.#mustLook = false;
      if (this.#wasDisconnected) await this.#goBack();
      const target = this.#target;
      for (let hasMore = true; hasMore; ) {
        const page = await this.#page({ limit: PAGE, after: this.#position });
        this.#reportDropped(page);
        await this.#options.print(this.#wanted(page));
        hasMore = page.cursor.hasMore;
        if (hasMore && page.cursor.newestSeq <= this.#position)
          throw new Refused('the service returned the same page of logs twice');
        this.#position = page.cursor.newestSeq;
      }
      // Skip entries that the filters excluded.
      this.#position = Math.max(this.#position, target);
    }
  }

  /** Move the position back if entries were lost: a Redis that lost its newest entries assigns their seqs again. */
  async #goBack(): Promise<void> {
    this.#wasDisconnected = false;
    if (this.#position === 0) return;
    const { newestSeq } = (await this.#page({ limit: 1 }, { isFiltered: false })).cursor;
    if (newestSeq >= this.#position) return;
    this.#options.onLostEntries(newestSeq + 1, this.#position);
    this.#position = newestSeq;
    this.#target = newestSeq;
  }

  /** Note that the service was unreachable, because it may have lost entries in the meantime. */
  markDisconnected(): void {
    this.#wasDisconnected = true;
  }

  #reportDropped({ logs }: RawPage): void {
    const { filters, onDropped } = this.#options;
    const first = logs[0]?.seq;
    if (filters.levels.length > 0 || filters.grep !== null || typeof first !== 'number') return;
    if (first > this.#position + 1) onDropped(this.#position + 1, first - 1);
  }

  #wanted({ logs }: RawPage): JsonObject[] {
    return logs.filter((entry) => isJsonObject(entry) && this.#matches(String(entry.message)));
  }

  /** Read a page of logs, with retries. @throws Refused; the reason of the signal */
  async #page(query: Query, { isFiltered = true } = {}): Promise<RawPage> {
    const { service, jobId, filters, onReply, signal, onLost } = this.#options;
    const level = filters.levels.join(',') || null;
    const q = filters.grep === null ? null : quoted(filters.grep);
    const path = jobPath(jobId, 'logs', { ...query, ...(isFiltered && { level, q }) });
    const request = { path, waitMs: MORE_MS };
    const page = await call<RawPage>(service, request, { signal, onLost, resendForMs: Number.POSITIVE_INFINITY });
    onReply();
    if (Array.isArray(page.logs) && typeof page.cursor?.newestSeq === 'number') return page;
    throw new Refused('the response is not a page of logs');
  }
}

/**
 * Return a query that finds all messages that contain a text, and possibly others.
 *
 * A term cannot contain a quote, so each part between quotes becomes a term. The service limits the length of a query
 * and the number of its terms.
 */
function quoted(text: string): string {
  const start = [...text].slice(0, LIMITS.searchCharacters / 4).join('');
  const parts = start.split('"').filter((part) => part !== '');
  const terms = parts.slice(0, LIMITS.searchTerms).map((part) => `"${part}"`);
  return terms.join(' ');
}
