import { holdsAll, isJsonObject, type JsonObject, LIMITS } from '@yardmaster/protocol';
import type { LogsRequest } from '../logs-command.js';
import { getPage, type PageOptions, type RawPage, Refused } from './page.js';

/** As many as the server gives at once. */
const PAGE = 500;

export interface LogReaderOptions extends PageOptions {
  filters: Pick<LogsRequest, 'levels' | 'grep'>;
  /** Prints entries; resolves when more may come. */
  print: (entries: JsonObject[]) => Promise<void>;
  /** Told when entries cannot be read any more, since newer ones have taken their place. */
  onDropped: (fromSeq: number, toSeq: number) => void;
  /** Told when entries that were printed are not there any more, though newer than all that is. */
  onLostEntries: (fromSeq: number, toSeq: number) => void;
}

/** Reads the logs of a job on from where it stands, each entry once. */
export class LogReader {
  readonly #options: LogReaderOptions;
  readonly #holdsText: (message: string) => boolean;
  /** Seq up to which all is printed. */
  #position = 0;
  /** Seq up to which there is more to print, as far as we know. */
  #target = 0;
  #mustLook = false;
  #mayHaveLost = false;
  #running: Promise<void> | null = null;

  constructor(options: LogReaderOptions) {
    this.#options = options;
    const { grep } = options.filters;
    // The server looks for words; whether they stand together as they were given is seen here.
    this.#holdsText = grep === null ? () => true : holdsAll([grep]);
  }

  /** Begin with the newest entries only. */
  async printNewest(count: number): Promise<void> {
    const newest: JsonObject[] = [];
    if (count === 0) this.#position = (await this.#page({ limit: 1 }, { isFiltered: false })).cursor.newestSeq;
    for (let before: number | null = null; newest.length < count; ) {
      // A text with quotes is found in fewer entries than the server gives.
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
   * Print what there is beyond where it stands. While that goes on, another call only adds to it.
   *
   * @param toSeq newest entry that is known of; null to look what there is
   */
  printOn(toSeq: number | null): Promise<void> {
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
      if (this.#mayHaveLost) await this.#goBack();
      const target = this.#target;
      for (let hasMore = true; hasMore; ) {
        const page = await this.#page({ limit: PAGE, after: this.#position });
        this.#tellDropped(page);
        await this.#options.print(this.#wanted(page));
        hasMore = page.cursor.hasMore;
        if (hasMore && page.cursor.newestSeq <= this.#position)
          throw new Refused('the server answered with a page again');
        this.#position = page.cursor.newestSeq;
      }
      // What the filters have left out need not be looked at again.
      this.#position = Math.max(this.#position, target);
    }
  }

  /** A Redis that came back without its newest entries gives their seqs to others. */
  async #goBack(): Promise<void> {
    this.#mayHaveLost = false;
    if (this.#position === 0) return;
    const { newestSeq } = (await this.#page({ limit: 1 }, { isFiltered: false })).cursor;
    if (newestSeq >= this.#position) return;
    this.#options.onLostEntries(newestSeq + 1, this.#position);
    this.#position = newestSeq;
    this.#target = newestSeq;
  }

  /** The service was out of reach, and may have come back with less than it had. */
  wasAway(): void {
    this.#mayHaveLost = true;
  }

  #tellDropped({ logs }: RawPage): void {
    const { filters, onDropped } = this.#options;
    const first = logs[0]?.seq;
    if (filters.levels.length > 0 || filters.grep !== null || typeof first !== 'number') return;
    if (first > this.#position + 1) onDropped(this.#position + 1, first - 1);
  }

  #wanted({ logs }: RawPage): JsonObject[] {
    return logs.filter((entry) => isJsonObject(entry) && this.#holdsText(String(entry.message)));
  }

  #page(query: Record<string, number>, { isFiltered = true } = {}): Promise<RawPage> {
    const { levels, grep } = this.#options.filters;
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) parameters.set(name, String(value));
    if (isFiltered && levels.length > 0) parameters.set('level', levels.join(','));
    if (isFiltered && grep !== null) parameters.set('q', quoted(grep));
    return getPage(parameters, this.#options);
  }
}

/**
 * A query that finds all messages which hold a text, and maybe more: a term cannot hold a quote, so it is for the parts
 * between them; and a query can only be so long, and have so many terms.
 */
function quoted(text: string): string {
  const start = [...text].slice(0, LIMITS.searchCharacters / 4).join('');
  const parts = start.split('"').filter((part) => part !== '');
  const terms = parts.slice(0, LIMITS.searchTerms).map((part) => `"${part}"`);
  return terms.join(' ');
}
