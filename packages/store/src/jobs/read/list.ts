import type { ListedJob, ListJobsQuery } from '@yardmaster/protocol';
import { runScript } from '../../script/run-script.js';
import { list } from '../../script/scripts.generated.js';
import { type Caller, onBulk, ownerOf, type Store } from '../../store.js';
import { boundsOf, matchesText, placesOf } from './filter.js';
import { LISTED_FIELDS, listedJobOf, recordOfValues } from './record.js';

/** Part of a page that one script reads. */
interface Portion {
  /** Entries of an index, when not every one passes the filter. */
  entries: number;
  /** Bytes of records, exceeded by at most one record. */
  bytes: number;
}

/** Read at once, over the connection of all calls; a longer read waits for a slot. */
const FIRST: Portion = { entries: 100, bytes: 65_536 };

/** Some 2 ms of Redis' time. */
const NEXT: Portion = { entries: 500, bytes: 256 * 1_024 };

/** Limits of a page for which jobs are looked through. Beyond them it has what was found so far, and a cursor. */
const PAGE_ENTRIES = 10_000;
const PAGE_MS = 1_000;

/** Time that the last portion may take. */
const RESPONSE_MS = 300;

/** Jobs of a space, and where the next page begins; null after the last page. */
export interface JobPage {
  jobs: ListedJob[];
  nextCursor: string | null;
}

/**
 * Read a page of a space's jobs, by creation. A space that was never used is empty.
 *
 * A page is read in several steps when its records are large, or when many jobs do not pass the filter. Between two
 * steps, as between two pages, jobs may be added, changed or removed. A job stays at its place, so that none comes twice,
 * and one that passes the filter all the time is not missed. The text of a filter is looked for here and not in Redis,
 * whose time all jobs share.
 *
 * @throws UNAVAILABLE; OVERLOADED for a page that got no slot in time
 * @see spec §4.2, contract-2 §4
 */
export async function listJobs(store: Store, caller: Caller, spaceId: string, query: ListJobsQuery): Promise<JobPage> {
  const page = new Page(store, spaceId, query);
  await page.read(store, FIRST);
  if (!page.isDone) await readOn(page, store, ownerOf(caller));
  const { jobs, nextCursor } = page;
  return { jobs, nextCursor };
}

/** Read the rest of a page that is long, or that few jobs belong on. */
function readOn(page: Page, store: Store, owner: string): Promise<void> {
  if (!page.isSearch) {
    return store.withReadSlot(owner, async (slot) => {
      for (; !page.isDone; await page.read(onBulk(store), NEXT)) slot.check();
    });
  }
  return store.withSearchSlot(owner, async ({ until }) => {
    // Jobs that were found are worth more than an error, so the page ends in time.
    const giveUpAt = Math.min(performance.now() + PAGE_MS, until - RESPONSE_MS);
    while (!page.isDone && page.examined < PAGE_ENTRIES && performance.now() < giveUpAt)
      await page.read(onBulk(store), NEXT);
  });
}

/** A page that is read step by step. */
class Page {
  readonly jobs: ListedJob[] = [];
  nextCursor: string | null = null;
  /** Entries of indexes so far. */
  examined = 0;
  /** Whether jobs must be looked at to know whether they pass the filter. */
  readonly isSearch: boolean;
  readonly #matches: ReturnType<typeof matchesText> | null;
  readonly #places;
  #offset: number;

  constructor(
    private readonly store: Store,
    private readonly spaceId: string,
    private readonly query: ListJobsQuery,
  ) {
    const { filter, cursor, offset } = query;
    this.isSearch = filter.q !== null || filter.names.length > 0 || filter.tags.length > 0;
    this.#matches = filter.q === null ? null : matchesText(filter.q);
    this.#places = placesOf(filter);
    this.#offset = offset;
    if (cursor !== null) this.#goOnAfter(cursor);
  }

  get isDone(): boolean {
    return this.nextCursor === null || this.jobs.length === this.query.limit;
  }

  /** Read the next portion. */
  async read(on: Store, { entries, bytes }: Portion): Promise<void> {
    const { keys } = this.store;
    const { filter, order, limit } = this.query;
    const left = limit - this.jobs.length;
    const { reached, hasMore, rows } = await runScript(on, list, {
      keys: { jobs: keys.jobs(this.spaceId) },
      args: {
        base: keys.baseOfSpace(this.spaceId),
        space: this.spaceId,
        order,
        ...boundsOf(this.#places),
        offset: this.#offset,
        limit: this.#matches === null ? left : entries,
        most: this.isSearch ? entries : left,
        budget: bytes,
        statuses: filter.statuses.join(' '),
        tags: filter.tags.join('\n'),
        fields: LISTED_FIELDS.join(' '),
      },
      rest: filter.names,
    });
    this.examined += entries;
    this.#offset = 0;
    this.nextCursor = hasMore === 1 ? String(Number(reached)) : null;
    for (const [i, [id, ...values]] of rows.entries()) {
      const record = recordOfValues(LISTED_FIELDS, values);
      if (this.#matches?.(record) === false) continue;
      this.jobs.push(listedJobOf(id as string, record));
      if (this.jobs.length < limit) continue;
      if (i < rows.length - 1) this.nextCursor = String(Number(record.order));
      break;
    }
    if (this.nextCursor !== null) this.#goOnAfter(Number(this.nextCursor));
  }

  #goOnAfter(place: number): void {
    if (this.query.order === 'desc') this.#places.below = Math.min(this.#places.below, place);
    else this.#places.from = Math.max(this.#places.from, place + 1);
  }
}
