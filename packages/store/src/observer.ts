import type { Action, Status } from '@yardmaster/protocol';

/** Status of a job; `none` before its creation and after its deletion. */
export type StatusOrNone = Status | 'none';

/** What a call has done to jobs, as metrics and the histories of spaces count it. */
export interface Change {
  from: StatusOrNone;
  to: StatusOrNone;
  /** Number of jobs. Default 1. */
  jobs?: number;
  /** Space and name of the jobs; absent when histories do not count the change. */
  spaceId?: string | undefined;
  name?: string | undefined;
  /** Trigger of the change; absent when the two statuses determine it. */
  by?: 'poll' | 'claim' | 'timeout' | 'ephemeral' | Action;
  /** For a claimed job: how long it was pending, in milliseconds. */
  waitMs?: number;
  /** For an ended attempt: how long it ran, in milliseconds. */
  runMs?: number | undefined;
}

/** Classes of failed Redis calls: no reply in time, no connection, temporarily unable, out of memory, any other. */
export const REDIS_ERROR_CLASSES = ['timeout', 'connection', 'busy', 'full', 'other'] as const;

export type RedisErrorClass = (typeof REDIS_ERROR_CLASSES)[number];

/** Observer of the store's verbs. Its functions must be quick and must not throw. */
export interface StoreObserver {
  /** A Redis call has ended, successfully or not. `name` is the name of the script or the command. */
  called(name: string, ms: number): void;
  /** A Redis call has failed. */
  failed(errorClass: RedisErrorClass): void;
  /**
   * A call has changed jobs. Reported once, after the call. Heartbeats are not reported, because they change no status, and
   * neither is a call whose reply was lost.
   */
  changed(change: Change): void;
  /** A poll has claimed jobs. */
  polled(jobs: number): void;
  /** A worker's call without a delivery token has taken effect in a second or later attempt. */
  unfenced(): void;
  /** A step has processed deadlines. `lagMs` is the lateness of the oldest. */
  expired(lagMs: number): void;
  /** A step has made due waiting jobs pending or dead. `lagMs` is the lateness of the earliest. */
  promoted(lagMs: number): void;
  /**
   * A step has run due schedules. `fired` counts the times that created a job, `skipped` those that did not; `lagMs` is the
   * lateness of the earliest.
   */
  fired(step: { fired: number; skipped: number; lagMs: number }): void;
  /** Log entries were appended. */
  logged(entries: number): void;
  /** A batch of logs was refused because Redis is full. */
  refusedLogs(): void;
  /** A search in logs stopped before its page was full and before it had read all entries. */
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
  fired: nothing,
  logged: nothing,
  refusedLogs: nothing,
  cutSearchShort: nothing,
};
