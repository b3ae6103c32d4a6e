import type { ClaimedJob, ClaimOutcome, PollRequest } from '@yardmaster/protocol';
import { claim, poll } from '../../script/scripts.generated.js';
import { runVerb, withInputs } from '../../script/verbs.js';
import { type Caller, notAfterOf, placeOfJob, type Store } from '../../store.js';
import { CLAIMED_VALUES, type ClaimedValue, claimedJobsOf, forEachClaimed } from '../read/record.js';

/** How jobs are claimed, beyond which ones. */
export type ClaimOptions = Partial<Pick<PollRequest, 'autoAck' | 'ackWithinSeconds' | 'workerId'>>;

/** What a poll wants. */
export type PollInputs = Pick<PollRequest, 'count' | 'names'> & ClaimOptions;

/** How many jobs a poll may touch: with several names, it looks at the head of each queue. */
export const jobsOfPoll = ({ count, names }: PollInputs) => count + (names.length > 1 ? names.length : 0);

/** What a poll has claimed, and whether it must be made again to find more, see pollJobs. */
export interface Polled {
  jobs: ClaimedJob[];
  isMore: boolean;
}

/** Return the verb of a poll with its arguments. */
export const pollVerb = ({ count, names, autoAck, ackWithinSeconds, workerId }: PollInputs) =>
  withInputs(poll, {
    args: {
      count,
      isAcked: autoAck ? '1' : '',
      ackWithinMs: ackWithinSeconds ? ackWithinSeconds * 1_000 : '',
      workerId: workerId ?? '',
    },
    rest: names,
  });

/** Report the jobs that a poll has claimed to the observer, and count them. @param values of appendClaimed in Lua */
export function reportClaimed(
  { observer, tally }: Store,
  { spaceId, poll, values }: { spaceId: string; poll: ClaimOptions; values: readonly ClaimedValue[] },
): void {
  const count = values.length / CLAIMED_VALUES;
  if (count > 0) observer.moved('pending', poll.autoAck ? 'running' : 'delivered', count);
  observer.delivered('poll', count);
  countClaimed(tally, spaceId, values);
}

function countClaimed(tally: Store['tally'], spaceId: string, values: readonly ClaimedValue[]): void {
  forEachClaimed(values, (name, waitMs) => tally.claimed(spaceId, name, waitMs));
}

/**
 * Claim up to `count` pending jobs of a space, oldest first, each for this caller only.
 *
 * @param request `names` empty means any name
 * @returns the jobs, delivered now, or running with `autoAck`; empty when none is pending. `isMore` when the poll has looked
 *   at as many paused jobs as one script may, and so must be made again to find the jobs behind them
 * @throws OVERLOADED; UNAVAILABLE, after which jobs may be delivered although no worker has received them: they are
 *   pending again after the delivery window
 * @see docs/api.md#poll
 */
export async function pollJobs(store: Store, spaceId: string, request: PollInputs): Promise<Polled> {
  const place = { base: store.keys.baseOfSpace(spaceId), space: spaceId, notAfter: notAfterOf(store) };
  const { outcome, jobs: values } = await runVerb(store, place, pollVerb(request), jobsOfPoll(request));
  reportClaimed(store, { spaceId, poll: request, values });
  return { jobs: claimedJobsOf(values), isMore: outcome === 'MORE' };
}

/**
 * Claim this job for the caller if it is pending, and not paused.
 *
 * @throws JOB_NOT_FOUND, FORBIDDEN, OVERLOADED, UNAVAILABLE
 * @see docs/api.md#poll
 */
export async function claimJob(store: Store, caller: Caller, jobId: string): Promise<ClaimOutcome> {
  const place = { ...placeOfJob(store, caller, jobId), notAfter: notAfterOf(store) };
  const reply = await runVerb(store, place, withInputs(claim, { args: { jobId } }));
  store.observer.delivered('claim', reply.outcome === 'OK' ? 1 : 0);
  if (reply.outcome === 'PAUSED') return { claimed: false, reason: 'paused', status: 'pending' };
  if (reply.outcome === 'NOT_PENDING') return { claimed: false, reason: 'not_pending', status: reply.status };
  store.observer.moved('pending', 'delivered', 1);
  countClaimed(store.tally, reply.space, reply.job);
  return { claimed: true, job: claimedJobsOf(reply.job)[0] as ClaimedJob };
}
