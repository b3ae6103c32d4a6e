import { isJobId, type Status } from '@yardmaster/protocol';
import { call } from '../call.js';
import type { Store } from '../store.js';
import { type State, stateOf } from './read/state.js';

// Cheap reads, one command each: for calls that wait, in case the message that they wait for was lost, and for the audit.

/** Queues per command. */
const QUEUES_AT_ONCE = 1_000;

/**
 * Check whether a space has a claimable job, without claiming it.
 *
 * @param names job names; empty for any
 * @throws UNAVAILABLE
 */
export async function hasClaimable(store: Store, spaceId: string, names: readonly string[]): Promise<boolean> {
  const queue = store.keys.queue(spaceId);
  const queues = names.length === 0 ? [queue] : names.map((name) => `${queue}/${name}`);
  for (let i = 0; i < queues.length; i += QUEUES_AT_ONCE) {
    // Redis removes empty sorted sets.
    if ((await call(store, 'exists', store.redis.exists(...queues.slice(i, i + QUEUES_AT_ONCE)))) > 0) return true;
  }
  return false;
}

/**
 * Read the status of a job.
 *
 * @returns null when there is no such job
 * @throws UNAVAILABLE
 */
export const readStatus = async (store: Store, jobId: string): Promise<Status | null> =>
  (await readState(store, jobId))?.status ?? null;

/**
 * Read the space of a job.
 *
 * @returns null when there is no such job
 * @throws UNAVAILABLE
 */
export const readSpaceOf = async (store: Store, jobId: string): Promise<string | null> =>
  (await readState(store, jobId))?.spaceId ?? null;

async function readState(store: Store, jobId: string): Promise<State | null> {
  if (!isJobId(jobId)) return null;
  const state = await call(store, 'hget', store.redis.hget(store.keys.job(jobId), 'state'));
  return state === null ? null : stateOf(state);
}
