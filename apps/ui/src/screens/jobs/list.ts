import { type Signal, signal } from '@preact/signals';
import type { ListedJob, Status, StreamMessage } from '@yardmaster/protocol';
import { callPage, type Page, segment } from '../../api/client.js';
import { applyMessage, type EventMessage, isEvent } from '../../live/apply-message.js';
import { type JobsFilter, listQuery, PAGE_SIZE } from './filter.js';

/** Maximum number of empty search pages to read before the user is asked to continue. */
const EMPTY_PAGES = 5;

/** Maximum number of new jobs to count. */
export const WAITING_MAX = 1000;

/**
 * The jobs of a page. Rows change in place as events arrive. New jobs wait until the user asks for them, so that no row
 * moves under the pointer.
 */
export class JobList {
  /** Null until the first response. */
  readonly rows: Signal<ListedJob[] | null> = signal(null);
  readonly nextCursor = signal<string | null>(null);
  readonly error = signal<Error | null>(null);
  /** IDs of new jobs that match the filter but aren't shown yet. */
  readonly waiting = signal<ReadonlySet<string>>(new Set());
  /** Number of jobs in the space by status; null before the stream opens. */
  readonly counts = signal<Record<Status, number> | null>(null);
  /** IDs of the selected jobs. Another page or filter is a new list, which starts without a selection. */
  readonly selected = signal<ReadonlySet<string>>(new Set());
  readonly #spaceId: string;
  readonly #filter: JobsFilter;
  /** Aborts the latest load, the only one that counts. */
  #controller = new AbortController();
  #isDisposed = false;
  /** Messages that arrived during a load, because the list may have been read before their events. */
  #during: StreamMessage[] | null = null;

  constructor(spaceId: string, filter: JobsFilter) {
    this.#spaceId = spaceId;
    this.#filter = filter;
  }

  /** Load or reload the page. */
  async load(): Promise<void> {
    if (this.#isDisposed) return;
    this.#controller.abort();
    this.#controller = new AbortController();
    const { signal } = this.#controller;
    this.#during ??= [];
    try {
      const { body, nextCursor } = await this.#read(signal);
      if (signal.aborted) return;
      this.rows.value = body;
      this.nextCursor.value = nextCursor;
      this.waiting.value = new Set();
      this.error.value = null;
    } catch (error) {
      if (signal.aborted) return;
      this.error.value = error as Error;
    }
    const messages = this.#during ?? [];
    this.#during = null;
    this.apply(messages);
  }

  select(ids: readonly string[], isSelected: boolean): void {
    const changed = new Set(this.selected.value);
    for (const id of ids) {
      if (isSelected) changed.add(id);
      else changed.delete(id);
    }
    this.selected.value = changed;
  }

  /** Abort the load and prevent others. */
  dispose(): void {
    this.#isDisposed = true;
    this.#controller.abort();
  }

  /** Read the page. If a search page is empty and has a next one, read that instead. */
  async #read(signal: AbortSignal): Promise<Page<ListedJob[]>> {
    let { cursor } = this.#filter;
    for (let pages = 1; ; pages++) {
      const query = listQuery({ ...this.#filter, cursor }, PAGE_SIZE);
      const page = await callPage<ListedJob[]>('GET', `spaces/${segment(this.#spaceId)}/jobs`, { query, signal });
      if (page.body.length > 0 || page.nextCursor === null || pages === EMPTY_PAGES) return page;
      cursor = page.nextCursor;
    }
  }

  /** Apply messages of the space's stream. Events before an `init` may be missing, so reload the page. */
  apply(messages: readonly StreamMessage[]): void {
    if (messages.some(({ type }) => type === 'init')) this.load();
    this.#during?.push(...messages.filter(isEvent));
    const rows = new Map(this.rows.value?.map((job) => [job.id, job]));
    const waiting = new Set(this.waiting.value);
    for (const message of messages) {
      if ('counts' in message && message.counts) this.counts.value = message.counts;
      if (isEvent(message)) this.#applyEvent(message, rows, waiting);
    }
    if (this.rows.value === null) return;
    this.rows.value = [...rows.values()];
    this.waiting.value = waiting;
  }

  #applyEvent(message: EventMessage, rows: Map<string, ListedJob>, waiting: Set<string>): void {
    const row = rows.get(message.jobId);
    if (row !== undefined) rows.set(row.id, applyMessage(row, message));
    else if (!this.#isListed(message.status)) waiting.delete(message.jobId);
    else if (waiting.size < WAITING_MAX && this.#mayBeNew(message)) waiting.add(message.jobId);
  }

  /** Whether a job may be new in the list. Without a status filter, only created jobs are. */
  #mayBeNew({ type }: EventMessage): boolean {
    const { statuses, beforeHours } = this.#filter;
    return beforeHours === null && (statuses.length > 0 || type === 'created');
  }

  /** Whether a job with this status belongs in the list. The stream already filters names and tags. */
  #isListed(status: Status): boolean {
    const { statuses, cursor } = this.#filter;
    return cursor === null && (statuses.length === 0 || statuses.includes(status));
  }
}
