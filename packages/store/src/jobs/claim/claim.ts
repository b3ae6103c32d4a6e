import type { ClaimedJob, ClaimOutcome, PollRequest } from '@yardmaster/protocol';
import type { Change } from '../../observer.js';
import { runVerb, withInputs } from '../../script/run-script.js';
import { claim, poll } from '../../script/scripts.generated.js';
import { type Caller, notAfterOf, placeOfJob, type Store } from '../../store.js';
import { type ClaimedValue, claimedOf } from '../read/record.js';

/** How a poll claims jobs. */
export type ClaimOptions = Partial<Pick<PollRequest, 'autoAck' | 'ackWithinSeconds' | 'workerId'>>;

/** Which jobs a poll claims, and how. */
export type PollInputs = Pick<PollRequest, 'count' | 'names'> & ClaimOptions;

/** Return how many jobs a poll can access. With several names, it reads the head of each queue. */
export const jobsOfPoll = ({ count, names }: PollInputs) => count + (names.length > 1 ? names.length : 0);

/** Jobs that a poll has claimed, and whether another poll may find more; see pollJobs. */
export interface Polled {
  jobs: ClaimedJob[];
  isMore: boolean;
}

/** Bind the verb of a poll to its arguments. */
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

/** Report the jobs that a call has claimed, and return them. @param values values from appendClaimed in Lua */
function reportClaimed(
  store: Store,
  values: readonly ClaimedValue[],
  claim: Pick<Change, 'to' | 'spaceId' | 'by'>,
): ClaimedJob[] {
  return claimedOf(values).map(({ job, waitMs }) => {
    store.observer.changed({ from: 'pending', ...claim, name: job.name, waitMs });
    return job;
  });
}

/** Report the jobs that a poll has claimed, and return them. */
export function reportPolled(
  store: Store,
  { outcome, jobs: values }: { outcome: string; jobs: readonly ClaimedValue[] },
  { spaceId, autoAck }: { spaceId: string } & ClaimOptions,
): Polled {
  const jobs = reportClaimed(store, values, { to: autoAck ? 'running' : 'delivered', spaceId, by: 'poll' });
  store.observer.polled(jobs.length);
  return { jobs, isMore: outcome === 'MORE' };
}

/**
 * Claim up to `count` pending jobs of a space, oldest first.
 *
 * @param request empty `names` for any name
 * @returns the claimed jobs: `delivered`, or `running` with `autoAck`; empty when none is pending. `isMore` means that the
 *   script has reached its limit of paused jobs, and another poll continues behind them
 * @throws OVERLOADED; UNAVAILABLE, after which jobs may be delivered although no worker has received them. They return to
 *   the queue after the delivery window
 * @see docs/api/workers.md#poll
 */
export async function pollJobs(store: Store, spaceId: string, request: PollInputs): Promise<Polled> {
  const place = { base: store.keys.baseOfSpace(spaceId), space: spaceId, notAfter: notAfterOf(store) };
  const reply = await runVerb(store, place, pollVerb(request), jobsOfPoll(request));
  return reportPolled(store, reply, { ...request, spaceId });
}

/**
 * Claim a job by its ID, if it is pending and not paused.
 *
 * @throws JOB_NOT_FOUND, FORBIDDEN, OVERLOADED, UNAVAILABLE
 * @see docs/api/workers.md#claim
 */
export async function claimJob(store: Store, caller: Caller, jobId: string): Promise<ClaimOutcome> {
  const place = { ...placeOfJob(store, caller, jobId), notAfter: notAfterOf(store) };
  const reply = await runVerb(store, place, withInputs(claim, { args: { jobId } }));
  if (reply.outcome === 'PAUSED') return { claimed: false, reason: 'paused', status: 'pending' };
  if (reply.outcome === 'NOT_PENDING') return { claimed: false, reason: 'not_pending', status: reply.status };
  const [job] = reportClaimed(store, reply.job, { to: 'delivered', spaceId: reply.space, by: 'claim' });
  return { claimed: true, job: job as ClaimedJob };
}
