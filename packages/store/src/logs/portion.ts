import { jobScriptInputs } from '../job-script-inputs.js';
import { runScript } from '../script/run-script.js';
import { read_logs } from '../script/scripts.generated.js';
import { type Caller, onBulk, type Store } from '../store.js';

/** What one script reads, and at most 20 entries more: half a millisecond of Redis' time, some 1.5 at most. */
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

/** Consecutive entries of a job's logs. */
export interface LogPortion {
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
export async function readPortion(
  store: Store,
  caller: Caller,
  jobId: string,
  { direction, bound, most }: PortionQuery,
): Promise<LogPortion> {
  const { keys, args } = jobScriptInputs(store, caller, jobId);
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
