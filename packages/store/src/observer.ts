import type { Action, Status } from '@yardmaster/protocol';

/** Status from which or to which jobs move; `none` before their creation and after their purge. */
export type StatusOrNone = Status | 'none';

/** What a call has done to jobs, as metrics and the histories of spaces count it. */
export interface Change {
  from: StatusOrNone;
  to: StatusOrNone;
  /** Number of jobs. Default 1. */
  jobs?: number;
  /** Space and name of the jobs, where a history counts the change. */
  spaceId?: string | undefined;
  name?: string | undefined;
  /** What has changed them, where the two statuses don't tell. */
  by?: 'poll' | 'claim' | 'timeout' | 'ephemeral' | Action;
  /** Claimed jobs: how long each was pending, milliseconds. */
  waitMs?: number;
  /** Ended attempts: how long each ran, milliseconds. */
  runMs?: number | undefined;
}

/** Class of a failed call to Redis: no reply in time, no connection, unable at the moment, no memory left. */
export const REDIS_ERROR_CLASSES = ['timeout', 'connection', 'busy', 'full', 'other'] as const;

export type RedisErrorClass = (typeof REDIS_ERROR_CLASSES)[number];

/** Observer of the store's verbs. Its functions must be quick and must not throw. */
export interface StoreObserver {
  /** A call to Redis has ended, well or not. `name` is the script's or the command's. */
  called(name: string, ms: number): void;
  /** A call to Redis has ended badly. */
  failed(errorClass: RedisErrorClass): void;
  /**
   * A call has changed jobs; it is reported once, after the call. Heartbeats, which change nothing but the deadline, are not
   * reported, and neither is a call whose reply was lost.
   */
  changed(change: Change): void;
  /** A poll has claimed this many jobs. */
  polled(jobs: number): void;
  /** A worker's call without a delivery token took effect in an attempt after the first. */
  unfenced(): void;
  /** Deadlines were processed in one step, the oldest of them this late. */
  expired(lagMs: number): void;
  /** Waiting jobs that were due were made pending or dead in one step, the earliest of them this late. */
  promoted(lagMs: number): void;
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
  changed: nothing,
  polled: nothing,
  unfenced: nothing,
  expired: nothing,
  promoted: nothing,
  logged: nothing,
  refusedLogs: nothing,
  cutSearchShort: nothing,
};
