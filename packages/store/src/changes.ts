import type { Status } from '@yardmaster/protocol';
import type { Store } from './store.js';

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
  by?: 'poll' | 'claim' | 'release' | 'timeout';
  /** Claimed jobs: how long each was pending, milliseconds. */
  waitMs?: number;
  /** Ended attempts: how long each ran, milliseconds. */
  runMs?: number | undefined;
}

/** Report a change once, after the call that made it. A call whose reply was lost is reported as an error only. */
export function report({ observer, tally }: Store, change: Change): void {
  observer.changed(change);
  tally.changed(change);
}
