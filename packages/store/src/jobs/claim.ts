import type { ClaimedJob, ClaimOutcome, PollRequest } from '@yardmaster/protocol';
import { runScript } from '../script/run-script.js';
import { claim, poll } from '../script/scripts.generated.js';
import { type Caller, jobScriptInputs, notAfterOf, type Store } from '../store.js';
import { claimedJobOf } from './read/record.js';

/**
 * Claim up to `count` pending jobs of a space, oldest first, each for this caller only.
 *
 * @param request `names` empty means any name
 * @returns the jobs, delivered now; empty when none is pending
 * @throws OVERLOADED; UNAVAILABLE, after which jobs may be delivered although no worker has received them: they are
 *   pending again after the delivery window
 * @see spec §4.3
 */
export async function pollJobs(
  store: Store,
  spaceId: string,
  { count, names }: Pick<PollRequest, 'count' | 'names'>,
): Promise<ClaimedJob[]> {
  const { deliveryTimeoutMs, eventsPerJob } = store.settings;
  const { jobs: rows } = await runScript(store, poll, {
    keys: { queue: store.keys.queue(spaceId) },
    args: {
      base: store.keys.baseOfSpace(spaceId),
      count,
      deliveryTimeoutMs,
      eventsPerJob,
      notAfter: notAfterOf(store),
    },
    rest: names,
  });
  const jobs = rows.map(claimedJobOf);
  if (jobs.length > 0) store.observer.moved('pending', 'delivered', jobs.length);
  store.observer.delivered('poll', jobs.length);
  return jobs;
}

/**
 * Claim this job for the caller if it is pending.
 *
 * @throws JOB_NOT_FOUND, FORBIDDEN, OVERLOADED, UNAVAILABLE
 * @see spec §4.4
 */
export async function claimJob(store: Store, caller: Caller, jobId: string): Promise<ClaimOutcome> {
  const { deliveryTimeoutMs, eventsPerJob } = store.settings;
  const { keys, args } = jobScriptInputs(store, caller, jobId);
  const reply = await runScript(store, claim, {
    keys,
    args: { deliveryTimeoutMs, eventsPerJob, notAfter: notAfterOf(store), ...args },
  });
  store.observer.delivered('claim', reply.outcome === 'OK' ? 1 : 0);
  if (reply.outcome === 'NOT_PENDING') return { claimed: false, reason: 'not_pending', status: reply.status };
  store.observer.moved('pending', 'delivered', 1);
  return { claimed: true, job: claimedJobOf(reply.job) };
}
