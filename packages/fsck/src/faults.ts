import type { Store } from '@yardmaster/store';

/**
 * Faults of stored data. Programs rely on these words, so the meaning of a word must not change.
 *
 * `repair` describes the repair, which trusts the job's record. It is null for faults that only an operator can repair,
 * because the lost data is unknown.
 */
export const FAULTS = {
  entry_missing: { meaning: 'a job is missing from an index', repair: 'added' },
  entry_misplaced: { meaning: 'a job is at the wrong position in an index', repair: 'moved' },
  entry_wrong: { meaning: 'a job is in an index that does not match its status', repair: 'removed' },
  entry_stray: {
    meaning: 'an index contains a job that does not exist or belongs elsewhere',
    repair: 'removed',
  },
  deadline_missing: { meaning: 'a job has no deadline, although it needs one', repair: 'set' },
  deadline_late: {
    meaning: 'a job is due much later than its window allows',
    repair: 'set to a full window from now',
  },
  callback_forgotten: { meaning: 'the callback of an ended job is no longer pending', repair: 'enqueued' },
  space_missing: { meaning: 'a space with jobs is not listed', repair: 'listed' },
  space_behind: { meaning: 'the last order of a space is lower than that of its newest job', repair: 'raised' },
  space_ahead: { meaning: 'the last order of a space exceeds the maximum', repair: 'lowered' },
  space_empty: { meaning: 'a space without jobs is listed', repair: 'removed' },
  name_count_wrong: { meaning: 'the number of jobs with a name is wrong', repair: 'recounted' },
  bytes_wrong: { meaning: 'the byte total of a space is wrong', repair: 'recalculated' },
  recount_forgotten: { meaning: 'the bytes of a space with maxBytes are not counted', repair: 'counting started' },
  operation_stopped: { meaning: 'a running operation has stalled', repair: 'resumed' },
  schedule_unlisted: {
    meaning: 'a schedule is missing from an index, so it does not run or is not shown',
    repair: 'added',
  },
  schedule_misplaced: { meaning: 'a schedule is at the wrong position in an index', repair: 'moved' },
  schedule_stray: {
    meaning: 'an index contains a schedule that does not exist or has no next time',
    repair: 'removed',
  },
  orphaned: {
    meaning: 'a history, logs, name counts or a byte total exist without their job or space',
    repair: 'removed',
  },
  pause_forgotten: { meaning: 'no sweep handles the paused names of a space', repair: 'listed' },
  pause_broken: { meaning: 'a pause has an invalid state', repair: 'resumed' },
  act_index_wrong: { meaning: 'the audit index of a space is wrong', repair: 'rebuilt' },
  partitions_missing: { meaning: 'the number of partitions and the format are missing', repair: 'stored' },
  unique_twice: { meaning: 'two jobs occupy the same unique key', repair: null },
  record_broken: { meaning: 'a job has a missing or invalid field', repair: null },
  schedule_broken: { meaning: 'a schedule has a missing or invalid field', repair: null },
  job_unreadable: { meaning: 'a job cannot be checked', repair: null },
  history_disagrees: { meaning: 'the history of a job ends in a different status', repair: null },
  history_incomplete: { meaning: 'the history of a job lacks events implied by its record', repair: null },
  history_unreadable: { meaning: 'the history of a job has an invalid entry', repair: null },
  entries_lost: { meaning: 'a job has lost its newest events or log entries', repair: null },
  key_wrong_type: { meaning: 'a key has an unexpected type', repair: null },
  key_unknown: { meaning: 'a key does not belong to Yardmaster', repair: null },
  settings_broken: { meaning: 'the settings of a space cannot be read, so they have no effect', repair: null },
  api_key_unlisted: { meaning: 'an API key is missing from an index', repair: 'added' },
  api_key_stray: {
    meaning: 'an index contains an API key that does not exist or belongs elsewhere',
    repair: 'removed',
  },
  api_key_broken: { meaning: 'an API key cannot be read, so it grants no access', repair: null },
} as const satisfies Record<string, { meaning: string; repair: string | null }>;

export type FaultKind = keyof typeof FAULTS;

/**
 * Whether a fault was repaired: `none` when only an operator can repair it, `possible` when a repair run would, `done`, or
 * `failed` when Redis refused the repair.
 */
export type Repair = 'none' | 'possible' | 'done' | 'failed';

/** One fault. */
export interface Fault {
  kind: FaultKind;
  /** The affected job; null for none. */
  jobId: string | null;
  /** Key of the affected record, index or list. */
  key: string;
  /** Description of the fault. It can contain text from users. */
  detail: string;
  repair: Repair;
}

/**
 * Build a fault from the reply of a script.
 *
 * @param outcome outcome of the repair; see lua/findings.lua
 */
export function faultOf(kind: FaultKind, at: Pick<Fault, 'jobId' | 'key' | 'detail'>, outcome: string): Fault {
  if (outcome === 'repaired') return { kind, ...at, repair: 'done' };
  if (outcome !== '') return { kind, ...at, detail: `${at.detail}; not repaired: ${outcome}`, repair: 'failed' };
  return { kind, ...at, repair: FAULTS[kind].repair === null ? 'none' : 'possible' };
}

/** Build faults without a job from the findings of a script. @param found see lua/findings.lua */
export const faultsFound = (found: readonly string[]): Fault[] =>
  Array.from({ length: found.length / 4 }, (_, i) => {
    const [kind, key, detail, outcome] = found.slice(4 * i, 4 * i + 4) as [FaultKind, string, string, string];
    return faultOf(kind, { jobId: null, key, detail }, outcome);
  });

/** The store to check, and whether to repair it. */
export interface CheckContext {
  store: Store;
  isRepairing: boolean;
}

/** Format `isRepairing` for a script. */
export const repairFlagOf = ({ isRepairing }: CheckContext) => (isRepairing ? '1' : '0');

/** Result of checking a portion. */
export interface Portion {
  seen: number;
  faults: Fault[];
}
