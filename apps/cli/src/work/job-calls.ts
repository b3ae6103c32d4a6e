import type { ClaimedJob } from '@yardmaster/protocol';
import { call, isLasting, jsonOf, Refused } from '../service/call.js';
import type { Refusal } from '../service/send.js';
import { jobPath, type Service } from '../service/service.js';

/** The worker does not have the job any more: it was killed, is over, or was given to another worker. */
export class JobLost extends Error {}

/** Makes a call about a job, and sends it again until its outcome is known, or the signal is aborted. */
export type Post = (
  endpoint: string,
  body?: unknown,
  options?: { signal?: AbortSignal; withinMs?: number },
) => Promise<void>;

interface JobCallOptions {
  service: Service;
  /** Aborted when the outcome of calls is not waited for any more. */
  giveUp: AbortSignal;
}

/** Statuses without a code of the service, so of a proxy, that do not pass. */
const LASTING_STATUSES = new Set([400, 401, 403, 413]);

/** Whether to send the call of a worker again: nothing is known about its outcome, or the service may respond later. */
export function isPassing(refusal: Refusal): boolean {
  if (isLasting(refusal)) return false;
  const { status, code } = refusal;
  return status >= 500 || status === 429 || (code === null && !LASTING_STATUSES.has(status));
}

/**
 * Make the function that makes calls about a job. They have the delivery token, so each takes effect at most once, and
 * has no effect when another worker has the job.
 *
 * It throws JobLost; Refused; the reason of the signal, when it is aborted.
 */
export function jobCalls({ id, deliveryToken }: ClaimedJob, { service, giveUp }: JobCallOptions): Post {
  return async (endpoint, body, { signal = giveUp, withinMs } = {}) => {
    const request = { method: 'POST', path: jobPath(id, endpoint), body } as const;
    const headers = { 'x-delivery-token': deliveryToken };
    const options = { service, signal, isPassing };
    try {
      jsonOf(await call({ ...request, headers }, withinMs === undefined ? options : { ...options, withinMs }));
    } catch (error) {
      if (error instanceof Refused && (error.status === 404 || error.status === 409)) throw new JobLost(error.message);
      throw error;
    }
  };
}

/** Whether a refusal concerns the key of the worker, and so every call. */
export const isOfKey = (error: unknown): boolean =>
  error instanceof Refused && (error.status === 401 || error.status === 403 || error.status === 0);
