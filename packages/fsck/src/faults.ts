import type { Store } from '@yardmaster/store';

/**
 * Faults of stored data. Programs rely on these words, so a word must not get another meaning.
 *
 * `repair` describes the repair, which takes the job's record as correct. It is null for faults that only an operator
 * can repair, because the lost data is unknown.
 */
export const FAULTS = {
  entry_missing: { meaning: 'a job is not in an index that it belongs in', repair: 'added' },
  entry_misplaced: { meaning: 'a job is at the wrong place of an index', repair: 'moved' },
  entry_wrong: { meaning: 'a job is in an index that its status excludes', repair: 'removed' },
  entry_stray: {
    meaning: 'an index has a job that does not exist, or is of another space, name, tag or unique key',
    repair: 'removed',
  },
  deadline_missing: { meaning: 'a job that needs a deadline has none', repair: 'set' },
  deadline_late: {
    meaning: 'a job is due much later than its window allows',
    repair: 'set to a whole window from now',
  },
  callback_forgotten: { meaning: 'the callback of an ended job is not pending any more', repair: 'pending again' },
  space_missing: { meaning: 'a space with jobs is not listed', repair: 'listed' },
  space_behind: { meaning: 'the order of a space is behind its newest job', repair: 'raised' },
  space_ahead: { meaning: 'the order of a space is above its maximum', repair: 'lowered' },
  space_empty: { meaning: 'a space without jobs is listed', repair: 'removed' },
  name_count_wrong: { meaning: 'the count of jobs of a name is wrong', repair: 'counted again' },
  bytes_wrong: { meaning: 'the sum of the bytes of a space is wrong', repair: 'summed again' },
  recount_forgotten: { meaning: 'the bytes of a space with maxBytes would not be counted', repair: 'counted' },
  operation_stopped: { meaning: 'a running operation would never continue', repair: 'continued' },
  orphaned: {
    meaning: 'a history, logs, counts of names or a sum of bytes exist without their job or space',
    repair: 'removed',
  },
  pause_forgotten: { meaning: 'no sweep would look after the paused names of a space', repair: 'listed' },
  pause_broken: { meaning: 'a pause has an impossible state', repair: 'resumed' },
  act_index_wrong: { meaning: 'the audit index of a space is wrong', repair: 'rebuilt' },
  partitions_missing: { meaning: 'the number of partitions and the format are missing', repair: 'stored' },
  unique_twice: { meaning: 'two jobs occupy one unique key', repair: null },
  record_broken: { meaning: 'a job has a field that is missing or impossible', repair: null },
  job_unreadable: { meaning: 'a job cannot be checked', repair: null },
  history_disagrees: { meaning: 'the history of a job ends in another status', repair: null },
  history_incomplete: { meaning: 'the history of a job lacks events that its record implies', repair: null },
  history_unreadable: { meaning: 'the history of a job has an invalid entry', repair: null },
  entries_lost: { meaning: 'a job has lost its newest events or log entries', repair: null },
  key_wrong_type: { meaning: 'a key has an unexpected type', repair: null },
  key_unknown: { meaning: 'a key does not belong to Yardmaster', repair: null },
  settings_broken: { meaning: 'the settings of a space cannot be read, so they have no effect', repair: null },
  api_key_unlisted: { meaning: 'an API key is not in an index that it belongs in', repair: 'added' },
  api_key_stray: {
    meaning: 'an index has an API key that does not exist, or is of another space or key',
    repair: 'removed',
  },
  api_key_broken: { meaning: 'an API key cannot be read, so it gives no access', repair: null },
} as const satisfies Record<string, { meaning: string; repair: string | null }>;

export type FaultKind = keyof typeof FAULTS;

/**
 * State of a fault: only an operator can repair it; a repair would; a repair did; a repair was tried and refused by
 * Redis.
 */
export type Repair = 'none' | 'possible' | 'done' | 'failed';

/** One fault. */
export interface Fault {
  kind: FaultKind;
  /** The job that the fault is about; null for none. */
  jobId: string | null;
  /** Where the fault is: the key of a record, an index, a list. */
  key: string;
  /** Description of the fault. It may contain text of users. */
  detail: string;
  repair: Repair;
}

/**
 * Build a fault from a script's reply.
 *
 * @param outcome see lua/findings.lua
 */
export function faultOf(kind: FaultKind, at: Pick<Fault, 'jobId' | 'key' | 'detail'>, outcome: string): Fault {
  if (outcome === 'repaired') return { kind, ...at, repair: 'done' };
  if (outcome !== '') return { kind, ...at, detail: `${at.detail}; not repaired: ${outcome}`, repair: 'failed' };
  return { kind, ...at, repair: FAULTS[kind].repair === null ? 'none' : 'possible' };
}

/** Build the faults of a script's findings, which are about no job. @param found see lua/findings.lua */
export const faultsFound = (found: readonly string[]): Fault[] =>
  Array.from({ length: found.length / 4 }, (_, i) => {
    const [kind, key, detail, outcome] = found.slice(4 * i, 4 * i + 4) as [FaultKind, string, string, string];
    return faultOf(kind, { jobId: null, key, detail }, outcome);
  });

/** A store that is repaired, or only checked. */
export interface CheckContext {
  store: Store;
  isRepairing: boolean;
}

/** Return `isRepairing` as the scripts take it. */
export const repairFlagOf = ({ isRepairing }: CheckContext) => (isRepairing ? '1' : '0');

/** Result of checking a portion. */
export interface Portion {
  seen: number;
  faults: Fault[];
}
