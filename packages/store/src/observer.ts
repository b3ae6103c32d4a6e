import type { Status } from '@yardmaster/protocol';

/** Class of a failed call to Redis: no reply in time, no connection, unable at the moment, no memory left. */
export const REDIS_ERROR_CLASSES = ['timeout', 'connection', 'busy', 'full', 'other'] as const;

export type RedisErrorClass = (typeof REDIS_ERROR_CLASSES)[number];

/** Status from which or to which a job moves; `none` before its creation and after its purge. */
export type StatusOrNone = Status | 'none';

/**
 * Observer of the store's verbs. The process that calls a verb reports each effect to it afterwards. Its functions must
 * be quick and must not throw. A call whose reply was lost may have taken effect, and is reported as an error only.
 */
export interface StoreObserver {
  /** A call to Redis has ended, well or not. `name` is the script's or the command's. */
  called(name: string, ms: number): void;
  /** A call to Redis has ended badly. */
  failed(errorClass: RedisErrorClass): void;
  /** Jobs changed their status. Heartbeats, which change nothing but the deadline, are not reported. */
  moved(from: StatusOrNone, to: StatusOrNone, jobs: number): void;
  /** A poll or a claim has claimed this many jobs. */
  delivered(by: 'poll' | 'claim', jobs: number): void;
  /** Deadlines were processed in one step, the oldest of them this late. */
  expired(lagMs: number): void;
  /** Log entries were appended. */
  logged(entries: number): void;
  /** A batch of logs was refused, because there was no room for it. */
  refusedLogs(): void;
  /** A search in logs ended before its page was full and before it had read all entries. */
  cutSearchShort(): void;
}

const nothing = () => undefined;

/** An observer that ignores everything. */
export const NO_OBSERVER: StoreObserver = {
  called: nothing,
  failed: nothing,
  moved: nothing,
  delivered: nothing,
  expired: nothing,
  logged: nothing,
  refusedLogs: nothing,
  cutSearchShort: nothing,
};
