import { containsAll, type LogEntry, type LogsPage, type LogsQuery } from '@yardmaster/protocol';
import { onBulk, runScript } from '../script/run-script.js';
import { read_logs } from '../script/scripts.generated.js';
import { type Caller, inputsForJob, type Store, tenantOf } from '../store.js';
import { levelOf, logOf, parseLog, type StoredLog } from './append.js';

/** Limits of one request. Beyond them it responds with the entries found so far, and a cursor to continue from. */
const PAGE_SIZE = 8 * 1_048_576;
const PAGE_MS = 1_000;

/** Time that the last portion may take. */
const RESPONSE_MS = 300;

/**
 * Read a page of a job's logs.
 *
 * Filters are applied here and not in Redis. There is one Redis, whose time all jobs share, but any number of processes
 * like this one. Redis only returns entries, in portions, and serves others between two of them. So a page is not of
 * one moment: while it is read, entries may be added, and the oldest may be dropped. The seqs show that.
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
    // Entries that were found are worth more than an error. So the read is done in time, however long it waited for its
    // slot.
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
 * Create a function that adds the entries that pass the filters to a page.
 *
 * @returns whether more entries passed than fit on the page: one entry beyond it shows that there is more
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
  /** Set when the reading stopped before the page was full: the seq that it reached, and that of the newest entry. */
  stopped?: { at: number; newestSeq: number };
}

/**
 * Build a page of the entries found.
 *
 * @param found in the order of reading
 */
function pageOf({ mode, bound }: LogsQuery, found: LogEntry[], { hasMore, stopped }: Ending): LogsPage {
  const logs = mode === 'after' ? found : found.reverse();
  const oldest = logs[0]?.seq ?? bound ?? 0;
  const newest = logs.at(-1)?.seq ?? bound ?? stopped?.newestSeq ?? 0;
  // The bound in the direction of paging: a client that continues from it gets no entry twice, and makes progress.
  const reached = stopped?.at;
  const cursor =
    mode === 'after'
      ? { mode, oldestSeq: oldest, newestSeq: reached ?? newest, hasMore }
      : { mode, oldestSeq: reached ?? oldest, newestSeq: newest, hasMore };
  return { logs, cursor };
}

/** Size of one script's read, exceeded by at most 20 entries: half a millisecond of Redis' time, some 1.5 at most. */
const PORTION_ENTRIES = 1_000;
const PORTION_BYTES = 256 * 1024;

/** Which entries to read next. */
interface PortionQuery {
  direction: 'after' | 'before';
  /** Seq after or before which to read. */
  bound: number;
  /** Entries wanted; more than 1,000 are not read at once. */
  most: number;
}

/** Consecutive entries of a job's logs. */
interface LogPortion {
  /** In the order of reading: ascending after a seq, descending before one. */
  entries: { seq: number; text: string }[];
  /** Seq from which the next portion continues: the last that was read, or the bound itself when there was nothing. */
  reached: number;
  /** Whether nothing is left in this direction. */
  isLast: boolean;
  /** Seq of the newest entry; 0 for none. */
  newestSeq: number;
  /** Size of the entries in UTF-16 units, which is close to bytes. */
  size: number;
}

/**
 * Read a portion of a job's logs, as of one moment.
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
  // Each list is ascending; the lists come in the order of reading.
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
