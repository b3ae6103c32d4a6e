import { type Signal, signal } from '@preact/signals';
import type { ListedJob, Status, StreamMessage } from '@yardmaster/protocol';
import { callPage, type Page, segment } from '../../api/client.js';
import { applyMessage, type EventMessage, isEvent } from '../../live/apply-message.js';
import { type JobsFilter, listQuery, PAGE_SIZE } from './filter.js';

/** How often an empty page of a search is followed by the next one, before the person is asked to continue. */
const EMPTY_PAGES = 5;

/** Most new jobs that are counted. */
export const WAITING_MAX = 1000;

/**
 * The jobs of a page. Rows change in place as events come. Jobs that are new in the list wait, so that no row moves
 * while a person points at it.
 */
export class JobList {
  /** Null until the first response. */
  readonly rows: Signal<ListedJob[] | null> = signal(null);
  readonly nextCursor = signal<string | null>(null);
  readonly error = signal<Error | null>(null);
  /** Ids of jobs that belong into the list by now. */
  readonly waiting = signal<ReadonlySet<string>>(new Set());
  /** How many jobs of the space have each status; null before the stream is open. */
  readonly counts = signal<Record<Status, number> | null>(null);
  /** Ids of the selected jobs. Another page or filter is another list, and begins without any. */
  readonly selected = signal<ReadonlySet<string>>(new Set());
  readonly #spaceId: string;
  readonly #filter: JobsFilter;
  /** Ends the latest load. Only that one counts. */
  #controller = new AbortController();
  #isDisposed = false;
  /** Messages that came during a load: the list may have been read before their events. */
  #during: StreamMessage[] | null = null;

  constructor(spaceId: string, filter: JobsFilter) {
    this.#spaceId = spaceId;
    this.#filter = filter;
  }

  /** Load the page, or load it again. */
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

  /** End the load, and start no other. */
  dispose(): void {
    this.#isDisposed = true;
    this.#controller.abort();
  }

  /** Read the page. An empty page of a search may have a next one, which is read then. */
  async #read(signal: AbortSignal): Promise<Page<ListedJob[]>> {
    let { cursor } = this.#filter;
    for (let pages = 1; ; pages++) {
      const query = listQuery({ ...this.#filter, cursor }, PAGE_SIZE);
      const page = await callPage<ListedJob[]>('GET', `spaces/${segment(this.#spaceId)}/jobs`, { query, signal });
      if (page.body.length > 0 || page.nextCursor === null || pages === EMPTY_PAGES) return page;
      cursor = page.nextCursor;
    }
  }

  /** Apply messages of the stream of the space. Each `init` follows events that are missing, so the page is loaded again. */
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

  /** Whether a job may be newer than those on the page. Without a status, only its creation makes it so. */
  #mayBeNew({ type }: EventMessage): boolean {
    const { statuses, beforeHours } = this.#filter;
    return beforeHours === null && (statuses.length > 0 || type === 'created');
  }

  /** Whether a job with this status belongs into the list. The stream sends only the names and tags of the list. */
  #isListed(status: Status): boolean {
    const { statuses, cursor } = this.#filter;
    return cursor === null && (statuses.length === 0 || statuses.includes(status));
  }
}
