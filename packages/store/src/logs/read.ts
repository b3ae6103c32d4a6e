import { containsAll, type LogEntry, type LogsPage, type LogsQuery } from '@yardmaster/protocol';
import { onBulk, runScript } from '../script/run-script.js';
import { read_logs } from '../script/scripts.generated.js';
import { type Caller, inputsForJob, type Store, tenantOf } from '../store.js';
import { levelOf, logOf, parseLog, type StoredLog } from './append.js';

/** Limits of one request. Beyond them, the page has the entries found so far, and a cursor. */
const PAGE_SIZE = 8 * 1_048_576;
const PAGE_MS = 1_000;

/** Time reserved for the last portion, in milliseconds. */
const RESPONSE_MS = 300;

/**
 * Read a page of a job's logs.
 *
 * Filters are applied here and not in Redis, whose time all jobs share. Redis only returns entries, in portions, and can
 * serve other calls in between. A page is therefore not a snapshot: entries may be added while it is read, and the oldest
 * may be dropped. The seqs reveal that.
 *
 * @throws JOB_NOT_FOUND, FORBIDDEN, UNAVAILABLE
 * @see docs/logs.md#read
 */
export function readLogs(store: Store, caller: Caller, jobId: string, query: LogsQuery): Promise<LogsPage> {
  const { mode, bound, limit } = query;
  const direction = mode === 'after' ? 'after' : 'before';
  const fill = fillerOf(jobId, query);
  const withSlot = isFiltered(query) ? store.slots.search : store.slots.read;
  return withSlot(tenantOf(caller), async (slot) => {
    // Stop in time, however long the wait for the slot was, because the entries found so far are worth more than an error.
    const giveUpAt = Math.min(performance.now() + PAGE_MS, slot.until - RESPONSE_MS);
    const page: LogEntry[] = [];
    let size = 0;
    let newestSeq: number | null = null;
    for (let next = bound ?? Number.MAX_SAFE_INTEGER; ; ) {
      const most = isFiltered(query) ? Number.POSITIVE_INFINITY : limit + 1 - page.length;
      const portion = await readPortion(store, caller, jobId, { direction, bound: next, most });
      const hasMore = fill(page, portion);
      if (hasMore || portion.isLast) return pageOf(query, page, { hasMore });
      next = portion.reached;
      size += portion.size;
      newestSeq ??= portion.newestSeq;
      if (size > PAGE_SIZE || performance.now() > giveUpAt) {
        reportStopped(store, query);
        return pageOf(query, page, { hasMore: true, stopped: { at: next, newestSeq } });
      }
    }
  });
}

const isFiltered = ({ levels, terms }: LogsQuery) => levels !== null || terms.length > 0;

function reportStopped({ observer }: Store, query: LogsQuery): void {
  if (isFiltered(query)) observer.cutSearchShort();
}

/**
 * Create a function that adds entries that pass the filters to a page.
 *
 * @returns function that returns whether an entry passed that no longer fits on the page
 */
function fillerOf(jobId: string, query: LogsQuery): (page: LogEntry[], portion: LogPortion) => boolean {
  const matches = matcherOf(query);
  return (page, { entries }) => {
    for (const { seq, text } of entries) {
      const stored = parseLog(text);
      if (!matches(stored)) continue;
      if (page.length === query.limit) return true;
      page.push(logOf(jobId, seq, stored));
    }
    return false;
  };
}

/** Create a function that checks whether an entry passes the filters. */
function matcherOf({ levels, terms }: LogsQuery): (stored: StoredLog) => boolean {
  const wanted = levels === null ? null : new Set(levels);
  const containsTerms = terms.length === 0 ? null : containsAll(terms);
  return (stored) => (wanted?.has(levelOf(stored)) ?? true) && (containsTerms?.(stored[2]) ?? true);
}

interface Ending {
  hasMore: boolean;
  /** Seq that was reached, and seq of the newest entry; only if the read stopped before the page was full. */
  stopped?: { at: number; newestSeq: number };
}

/**
 * Build a page from the entries found.
 *
 * @param found entries in the order in which they were read
 */
function pageOf({ mode, bound }: LogsQuery, found: LogEntry[], { hasMore, stopped }: Ending): LogsPage {
  const logs = mode === 'after' ? found : found.reverse();
  const oldest = logs[0]?.seq ?? bound ?? 0;
  const newest = logs.at(-1)?.seq ?? bound ?? stopped?.newestSeq ?? 0;
  // In the direction of paging, return how far the read got, so that a client gets no entry twice and makes progress.
  const reached = stopped?.at;
  const cursor =
    mode === 'after'
      ? { mode, oldestSeq: oldest, newestSeq: reached ?? newest, hasMore }
      : { mode, oldestSeq: reached ?? oldest, newestSeq: newest, hasMore };
  return { logs, cursor };
}

/** Limits per script, exceeded by at most 20 entries, which take Redis about 0.5 ms, and 1.5 ms at most. */
const PORTION_ENTRIES = 1_000;
const PORTION_BYTES = 256 * 1024;

/** Which entries to read next. */
interface PortionQuery {
  direction: 'after' | 'before';
  /** Seq after or before which to read. */
  bound: number;
  /** Maximum number of entries. At most 1,000 are read at once. */
  most: number;
}

/** Consecutive entries of a job's logs. */
interface LogPortion {
  /** Entries in the order in which they were read: ascending after a seq, descending before one. */
  entries: { seq: number; text: string }[];
  /** Seq from which the next portion continues: the last seq read, or the bound if there was none. */
  reached: number;
  /** Whether nothing is left in this direction. */
  isLast: boolean;
  /** Seq of the newest entry; 0 for none. */
  newestSeq: number;
  /** Size of the entries in UTF-16 code units, which is close to bytes. */
  size: number;
}

/**
 * Read a portion of a job's logs in one snapshot.
 *
 * @throws JOB_NOT_FOUND, FORBIDDEN, UNAVAILABLE
 */
async function readPortion(
  store: Store,
  caller: Caller,
  jobId: string,
  { direction, bound, most }: PortionQuery,
): Promise<LogPortion> {
  const { keys, args } = inputsForJob(store, caller, jobId);
  const { dropped, newestSeq, lists } = await runScript(onBulk(store), read_logs, {
    keys,
    args: {
      ...args,
      direction,
      bound,
      most: Math.min(most, PORTION_ENTRIES),
      budget: PORTION_BYTES,
    },
  });
  const isAfter = direction === 'after';
  // Each list is ascending. The lists are in the order in which they were read.
  const texts = isAfter ? lists.flat() : lists.flatMap((list) => list.reverse());
  const first = isAfter ? Math.max(bound, dropped) + 1 : Math.min(bound - 1, newestSeq);
  const step = isAfter ? 1 : -1;
  const entries = texts.map((text, i) => ({ seq: first + step * i, text }));
  const reached = entries.at(-1)?.seq ?? bound;
  return {
    entries,
    reached,
    isLast: entries.length === 0 || (isAfter ? reached >= newestSeq : reached <= dropped + 1),
    newestSeq,
    size: texts.reduce((sum, text) => sum + text.length, 0),
  };
}
