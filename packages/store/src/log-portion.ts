import { runScript } from './script.js';
import { read_logs } from './scripts.generated.js';
import { type Caller, onBulk, type Store } from './store.js';
import { worksOn } from './works-on.js';

/** What one script reads, and no more than 20 entries beyond that: half a millisecond of Redis' time, some 1.5 at most. */
const PORTION_ENTRIES = 1_000;
const PORTION_BYTES = 256 * 1024;

/** Which entries to read next. */
export interface PortionQuery {
  direction: 'after' | 'before';
  /** Seq after or before which to read. */
  bound: number;
  /** Entries wanted; more than 1 000 are not read at once. */
  most: number;
}

/** Some entries that stand one beside the other. */
export interface LogPortion {
  /** In the order of reading: ascending after a seq, descending before one. */
  entries: { seq: number; text: string }[];
  /** Seq from which the next portion goes on: the last that was read; the bound itself when there was nothing. */
  reached: number;
  /** Whether nothing is left in this direction. */
  isLast: boolean;
  /** Seq of the newest entry there is; 0 for none. */
  newestSeq: number;
  /** Size of the entries, in UTF-16 units: near enough to bytes. */
  size: number;
}

/**
 * Read a portion of a job's logs, as of one moment.
 *
 * @throws JOB_NOT_FOUND, FORBIDDEN, UNAVAILABLE
 */
export async function readPortion(
  store: Store,
  caller: Caller,
  jobId: string,
  { direction, bound, most }: PortionQuery,
): Promise<LogPortion> {
  const { keys, args } = worksOn(store, caller, jobId);
  const [, dropped, newestSeq, ...lists] = (await runScript(onBulk(store), read_logs, {
    keys,
    args: {
      keySpaceId: args.keySpaceId,
      direction,
      bound,
      most: Math.min(most, PORTION_ENTRIES),
      budget: PORTION_BYTES,
    },
  })) as [string, number, number, ...string[][]];
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
