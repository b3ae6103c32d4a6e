import { type Signal, signal, useSignal } from '@preact/signals';
import type { LogEntry, LogLevel, LogsPage } from '@yardmaster/protocol';
import { LOG_LEVELS } from '@yardmaster/protocol/log-levels';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { call, segment } from '../../api/client.js';
import { isPaused } from '../../live/stream.js';
import { RETRY_MS } from '../../live/use-loaded.js';
import { SearchField } from '../../parts/form.js';
import { ErrorNotice } from '../../parts/notice.js';

interface LogsProps {
  jobId: string;
  /** Increases when there may be new entries. */
  changes: Signal<number>;
}

/** Show the log of a job, newest entries last, with search. */
export function Logs({ jobId, changes }: LogsProps) {
  const level = useSignal<LogLevel>('trace');
  const q = useSignal('');
  const isFollowed = useSignal(true);
  const logs = useMemo(() => new LogList(jobId, level.value, q.value), [jobId, level.value, q.value]);
  const end = useRef<HTMLDivElement>(null);

  useEffect(() => () => logs.dispose(), [logs]);
  useEffect(() => {
    if (isFollowed.value || !logs.entries.value?.length) logs.loadNewer();
  }, [logs, changes.value, isFollowed.value]);
  const loadOlder = () => {
    isFollowed.value = false;
    logs.loadOlder();
  };
  const entries = logs.entries.value;
  useEffect(() => {
    if (isFollowed.value && end.current) end.current.scrollTop = end.current.scrollHeight;
  }, [entries]);

  return (
    <section class="logs">
      <h2>Logs</h2>
      <div class="filters">
        <label>
          level{' '}
          <select value={level.value} onChange={(event) => (level.value = event.currentTarget.value as LogLevel)}>
            {LOG_LEVELS.map((one) => (
              <option key={one} value={one}>
                {one} and above
              </option>
            ))}
          </select>
        </label>
        <SearchField label="find" value={q.value} onSearch={(text) => (q.value = text)} />
        <label>
          <input
            type="checkbox"
            checked={isFollowed.value}
            onChange={(event) => (isFollowed.value = event.currentTarget.checked)}
          />{' '}
          follow
        </label>
      </div>
      <ErrorNotice>{logs.error.value?.message}</ErrorNotice>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <div class="entries" ref={end} tabIndex={0} role="log" aria-label="Log entries">
        {logs.hasOlder.value && (
          <button type="button" onClick={loadOlder}>
            Load older entries
          </button>
        )}
        {entries?.length === 0 && <p class="none">No entries.</p>}
        {entries?.map((entry) => (
          <Entry key={entry.seq} entry={entry} />
        ))}
      </div>
    </section>
  );
}

function Entry({ entry: { level, message, source, metadata, loggedAt } }: { entry: LogEntry }) {
  const more = Object.keys(metadata).length === 0 ? '' : JSON.stringify(metadata);
  return (
    <p class={`entry ${level}`}>
      <time dateTime={loggedAt} title={loggedAt}>
        {new Date(loggedAt).toLocaleTimeString()}
      </time>{' '}
      <b>{level}</b> {source !== 'worker' && <bdi class="source">{source}</bdi>} <bdi>{message}</bdi>{' '}
      {more !== '' && <bdi class="more">{more}</bdi>}
    </p>
  );
}

const PAGE = 200;

/** Maximum number of entries on the page. While following, older ones are dropped and can be loaded again. */
const ENTRIES_MAX = 2000;

/** The log entries of a job that match a filter: it loads the newest first, then older and newer ones. */
class LogList {
  /** Entries in the order of the log; null before the first page. */
  readonly entries = signal<LogEntry[] | null>(null);
  readonly hasOlder = signal(false);
  readonly error = signal<Error | null>(null);
  readonly #path: string;
  readonly #filter: { level: string; q: string };
  readonly #controller = new AbortController();
  /** Seqs up to which the log was read in both directions. */
  #newest = 0;
  #oldest = 0;
  /** Whether a load of newer entries is already queued. */
  #isNewerQueued = false;
  /** The latest load. Loads run one at a time, so that entries stay in order. */
  #last: Promise<void> = Promise.resolve();
  #retry: ReturnType<typeof setTimeout> | undefined;

  /** @param level the lowest level to show */
  constructor(jobId: string, level: LogLevel, q: string) {
    this.#path = `jobs/${segment(jobId)}/logs`;
    this.#filter = { level: LOG_LEVELS.slice(LOG_LEVELS.indexOf(level)).join(), q };
  }

  /** Load the newest page or, after the first time, all newer entries. */
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
        // Even an empty page can have a next one: a search reads only part of the log at a time.
        const { logs, cursor } = await this.#read({ after: this.#newest });
        this.#newest = cursor.newestSeq;
        hasMore = cursor.hasMore;
        this.#show([...this.entries.value, ...logs]);
      }
    }, this.#loadAgain);
  }

  /** Load the next older page. */
  loadOlder(): void {
    this.#load(async () => {
      const { logs, cursor } = await this.#read({ before: this.#oldest });
      this.#oldest = cursor.oldestSeq;
      this.entries.value = [...logs, ...(this.entries.value ?? [])];
      this.hasOlder.value = cursor.hasMore;
    });
  }

  /** Retry the load of newer entries later. */
  #loadAgain = (): void => {
    clearTimeout(this.#retry);
    this.#retry = setTimeout(isPaused.value || document.hidden ? this.#loadAgain : () => this.loadNewer(), RETRY_MS);
  };

  /** Abort all loads. */
  dispose(): void {
    clearTimeout(this.#retry);
    this.#controller.abort();
  }

  /** Show entries up to the maximum; older ones are dropped and can be loaded again. */
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
