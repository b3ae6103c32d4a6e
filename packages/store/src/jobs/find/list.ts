import type { ListedJob, ListJobsQuery } from '@yardmaster/protocol';
import { onBulk, runScript } from '../../script/run-script.js';
import { list } from '../../script/scripts.generated.js';
import { type Caller, type Store, tenantOf } from '../../store.js';
import { LISTED_FIELDS, listedJobOf, recordOfValues } from '../read/record.js';
import { type Found, findInputs, goOnAfter, type PortionQuery, placesOf, reachedIn } from './filter.js';
import { searchPortion } from './search.js';

/** Jobs of a space, and where the next page begins; null after the last page. */
export interface JobPage {
  jobs: ListedJob[];
  nextCursor: string | null;
}

/** Entries of indexes that one script examines, of which perhaps none passes the filter: some 1 ms of Redis' time. */
export const ENTRIES = { first: 100, next: 300 };

/** Bytes of records that one script reads, exceeded by at most one record: some 1 ms. */
const BYTES = 65_536;

/** Limits of a page for which jobs are looked through. Beyond them it has what was found so far, and a cursor. */
const PAGE_ENTRIES = 10_000;
const PAGE_MS = 1_000;

/** Time that the last portion may take. */
const RESPONSE_MS = 300;

/**
 * Read a page of a space's jobs, by creation. A space that was never used is empty.
 *
 * A page is read in portions when its records are large, or when many jobs do not pass the filter. Between two
 * portions, as between two pages, jobs may be added, changed or removed. A job stays at its place, so that none comes
 * twice, and one that passes the filter all the time is not missed.
 *
 * @throws UNAVAILABLE; OVERLOADED for a page that got no slot in time
 * @see docs/api/read.md#list-jobs
 */
export async function listJobs(store: Store, caller: Caller, spaceId: string, query: ListJobsQuery): Promise<JobPage> {
  const { filter, cursor, order, limit, offset } = query;
  const jobs: ListedJob[] = [];
  let places = placesOf(filter);
  let reached = cursor;
  let examined = 0;

  /** Read the next portion. @returns whether the page is not full and there are more jobs */
  async function read(on: Store, entries: number): Promise<boolean> {
    if (reached !== null) places = goOnAfter(reached, places, order);
    const skip = examined === 0 ? offset : 0;
    const portion = { spaceId, places, order, limit: limit - jobs.length, entries, skip };
    const found = await (filter.q === null ? readPortion : searchPortion)(on, filter, portion);
    jobs.push(...found.jobs);
    reached = found.reached;
    examined += entries;
    return reached !== null && jobs.length < limit;
  }

  // A small page is read over the connection of all calls, and waits for no slot.
  if (await read(store, ENTRIES.first)) {
    if (isSearch(filter)) {
      await store.slots.search(tenantOf(caller, spaceId), async ({ until }) => {
        // Jobs that were found are worth more than an error, so the page ends in time.
        const giveUpAt = Math.min(performance.now() + PAGE_MS, until - RESPONSE_MS);
        while (examined < PAGE_ENTRIES && performance.now() < giveUpAt)
          if (!(await read(onBulk(store), ENTRIES.next))) break;
      });
    } else {
      await store.slots.read(tenantOf(caller, spaceId), async (slot) => {
        do slot.check();
        while (await read(onBulk(store), ENTRIES.next));
      });
    }
  }
  return { jobs, nextCursor: reached === null ? null : String(reached) };
}

/** Whether jobs must be looked at to know whether they pass. */
export const isSearch = ({ q, names, tags }: ListJobsQuery['filter']) =>
  q !== null || names.length > 0 || tags.length > 0;

/** Read a portion of a page whose filter Redis applies, as of one moment. */
async function readPortion(
  store: Store,
  filter: ListJobsQuery['filter'],
  { spaceId, places, order, limit, entries, skip }: PortionQuery,
): Promise<Found> {
  const { keys, args } = findInputs(store, spaceId, filter, places);
  const most = isSearch(filter) ? entries : limit;
  const nameCount = filter.names.length;
  const reply = await runScript(store, list, {
    keys,
    args: { ...args, order, offset: skip, limit, most, budget: BYTES, nameCount },
    rest: [...filter.names, ...LISTED_FIELDS],
  });
  const jobs = reply.rows.map(([id, ...values]) => listedJobOf(id as string, recordOfValues(LISTED_FIELDS, values)));
  return { jobs, reached: reachedIn(reply.reached) };
}
