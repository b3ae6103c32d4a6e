import type { ListedJob, ListJobsQuery } from '@yardmaster/protocol';
import { onBulk, runScript } from '../../script/run-script.js';
import { list } from '../../script/scripts.generated.js';
import { type Caller, type Store, tenantOf } from '../../store.js';
import { LISTED_FIELDS, listedJobOf, recordOfValues } from '../read/record.js';
import { type Found, findInputs, type PortionQuery, placesAfter, placesOf, reachedIn } from './filter.js';
import { searchPortion } from './search.js';

/** A page of jobs, and the cursor of the next page; null after the last page. */
export interface JobPage {
  jobs: ListedJob[];
  nextCursor: string | null;
}

/** Index entries per script, which takes Redis about 1 ms even if none passes the filter. */
export const ENTRIES = { first: 100, next: 300 };

/** Bytes of records per script, exceeded by at most one record: about 1 ms. */
const BYTES = 65_536;

/** Limits of a search. Beyond them, the page has the jobs found so far, and a cursor. */
const PAGE_ENTRIES = 10_000;
const PAGE_MS = 1_000;

/** Time reserved for the last portion, in milliseconds. */
const RESPONSE_MS = 300;

/**
 * Read a page of a space's jobs in creation order. A space that was never used is empty.
 *
 * A page with large records, or with many jobs that do not pass the filter, is read in portions. Jobs can change between
 * portions, as between pages. But each job keeps its place, so no job is returned twice, and a job that passes the filter
 * the whole time is not missed.
 *
 * @throws UNAVAILABLE; OVERLOADED for a page that gets no slot in time
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
    if (reached !== null) places = placesAfter(reached, places, order);
    const skip = examined === 0 ? offset : 0;
    const portion = { spaceId, places, order, limit: limit - jobs.length, entries, skip };
    const found = await (filter.q === null ? readPortion : searchPortion)(on, filter, portion);
    jobs.push(...found.jobs);
    reached = found.reached;
    examined += entries;
    return reached !== null && jobs.length < limit;
  }

  // A small page is read over the main connection, without a slot.
  if (await read(store, ENTRIES.first)) {
    if (isSearch(filter)) {
      await store.slots.search(tenantOf(caller, spaceId), async ({ until }) => {
        // Stop in time, because the jobs found so far are worth more than an error.
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

/** Check whether a filter requires reading jobs, rather than indexes alone. */
export const isSearch = ({ q, names, tags, schedule }: ListJobsQuery['filter']) =>
  q !== null || schedule !== null || names.length > 0 || tags.length > 0;

/** Read a portion of a page in one snapshot. Redis applies the filter. */
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
