import { signal } from '@preact/signals';
import type { LogEntry, LogLevel, LogsPage } from '@yardmaster/protocol';
import { LOG_LEVELS } from '@yardmaster/protocol/log-levels';
import { call, segment } from '../../api/client.js';
import { isPaused } from '../../live/stream.js';
import { RETRY_MS } from '../../live/use-loaded.js';

const PAGE = 200;

/** Most entries on the page; those above are dropped while it follows, and can be loaded again. */
const ENTRIES_MAX = 2000;

/** The logs of a job that pass a filter: the newest first, then those before and after them. */
export class LogList {
  /** In the order of the job; null before the first page. */
  readonly entries = signal<LogEntry[] | null>(null);
  readonly hasOlder = signal(false);
  readonly error = signal<Error | null>(null);
  readonly #path: string;
  readonly #filter: { level: string; q: string };
  readonly #controller = new AbortController();
  /** Seqs up to which the logs were read in both directions. */
  #newest = 0;
  #oldest = 0;
  /** Whether a load of newer entries waits already. */
  #isNewerQueued = false;
  /** The latest load. There is one at a time, so that entries stay in their order. */
  #last: Promise<void> = Promise.resolve();
  #retry: ReturnType<typeof setTimeout> | undefined;

  /** @param level the lowest level that is shown */
  constructor(jobId: string, level: LogLevel, q: string) {
    this.#path = `jobs/${segment(jobId)}/logs`;
    this.#filter = { level: LOG_LEVELS.slice(LOG_LEVELS.indexOf(level)).join(), q };
  }

  /** Load the newest page, or all entries after those that are there. */
  loadNewer(): void {
    if (this.#isNewerQueued) return;
    this.#isNewerQueued = true;
    this.#load(async () => {
      this.#isNewerQueued = false;
      if (this.entries.value === null) {
        const { logs, cursor } = await this.#read({});
        this.#newest = cursor.newestSeq;
        this.#oldest = cursor.oldestSeq;
        this.entries.value = logs;
        this.hasOlder.value = cursor.hasMore;
        return;
      }
      for (let hasMore = true; hasMore; ) {
        // A page may be empty and have a next one: a search reads a bounded part of the logs.
        const { logs, cursor } = await this.#read({ after: this.#newest });
        this.#newest = cursor.newestSeq;
        hasMore = cursor.hasMore;
        this.#show([...this.entries.value, ...logs]);
      }
    }, this.#loadAgain);
  }

  /** Load the page before those that are there. */
  loadOlder(): void {
    this.#load(async () => {
      const { logs, cursor } = await this.#read({ before: this.#oldest });
      this.#oldest = cursor.oldestSeq;
      this.entries.value = [...logs, ...(this.entries.value ?? [])];
      this.hasOlder.value = cursor.hasMore;
    });
  }

  /** Load the newer entries later, unless a load is queued then. */
  #loadAgain = (): void => {
    clearTimeout(this.#retry);
    this.#retry = setTimeout(isPaused.value || document.hidden ? this.#loadAgain : () => this.loadNewer(), RETRY_MS);
  };

  /** End all loads. */
  dispose(): void {
    clearTimeout(this.#retry);
    this.#controller.abort();
  }

  /** Show entries; the oldest are dropped, and can be loaded again. */
  #show(entries: LogEntry[]): void {
    if (entries.length > ENTRIES_MAX) {
      this.hasOlder.value = true;
      this.#oldest = entries.at(-ENTRIES_MAX)?.seq ?? this.#oldest;
    }
    this.entries.value = entries.slice(-ENTRIES_MAX);
  }

  #load(work: () => Promise<void>, onError = () => {}): void {
    this.#last = this.#last.then(work).then(
      () => {
        this.error.value = null;
      },
      (error: Error) => {
        if (this.#controller.signal.aborted) return;
        this.error.value = error;
        onError();
      },
    );
  }

  #read(bound: { after?: number; before?: number }): Promise<LogsPage> {
    const query = { limit: PAGE, ...this.#filter, ...bound };
    return call('GET', this.#path, { query, signal: this.#controller.signal });
  }
}
