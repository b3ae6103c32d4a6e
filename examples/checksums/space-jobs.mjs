// Read the jobs of the space, and fail the jobs of a worker that has ended.

import { Refusal } from './client.mjs';

const PAGE = 100;

/** Every job of a space, or those of one status, newest first, page by page. */
export async function listJobs(call, space, status) {
  const filter = status ? `&status=${status}` : '';
  const jobs = [];
  for (;;) {
    const page = await call('GET', `/spaces/${space}/jobs?limit=${PAGE}&offset=${jobs.length}${filter}`);
    jobs.push(...page);
    if (page.length < PAGE) return jobs;
  }
}

/** Whether any job of a space has this status; costs one row. */
export async function hasJobs(call, space, status) {
  return (await call('GET', `/spaces/${space}/jobs?limit=1&status=${status}`)).length > 0;
}

export const hasEnded = ({ status }) => status === 'completed' || status === 'dead' || status === 'killed';

/** Attempts before the one that a delivered or running job is in; an attempt counts from its ack. */
export const attemptsBefore = ({ status, attemptNumber }) => (status === 'running' ? attemptNumber - 1 : attemptNumber);

/**
 * Fail one attempt on behalf of its worker, which has ended. A job that was delivered is acked first, because only a
 * running job can fail. (Time-outs would put the job back too, after 30 s or its `timeoutSeconds`; a process that sees
 * the worker end does not have to wait for that.)
 *
 * @param attempt `{ id, attemptsBefore }`
 * @returns whether the attempt was failed; false if its worker had already ended it, or another client killed the job
 */
export async function failForWorker(call, attempt) {
  const job = await call('GET', `/jobs/${attempt.id}`);
  const isThatAttempt = attemptsBefore(job) === attempt.attemptsBefore;
  if (!isThatAttempt || (job.status !== 'delivered' && job.status !== 'running')) return false;
  try {
    if (job.status === 'delivered') await ackFor(call, attempt.id);
    await call('POST', `/jobs/${attempt.id}/fail`, { error: 'worker died' });
    return true;
  } catch (error) {
    return refusedAsOver(error);
  }
}

async function ackFor(call, id) {
  try {
    await call('POST', `/jobs/${id}/ack`);
  } catch (error) {
    // The last ack of the worker was quicker, or our first request took effect. The job must still be failed.
    if (!(error instanceof Refusal && error.status === 409)) throw error;
  }
}

/** Return whether an earlier request of ours failed the job; otherwise another client ended it after our read. */
function refusedAsOver(error) {
  if (error instanceof Refusal && error.status === 409) return error.repeated;
  throw error;
}
