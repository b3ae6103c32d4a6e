// A server that returns jobs to workers and accepts their outcomes, unless a test overrides an answer.
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { startFake } from './fake-service.mjs';

const ACTION = /\/jobs\/([^/]+)\/(\w+)$/;

/** Return a job as a poll does. */
export const jobOf = (id, more = {}) => ({
  ...{ id, name: 'a', payload: {}, timeoutSeconds: 60, maxRetries: 3, attemptNumber: 0, attempt: 1 },
  ...{ createdAt: '2026-01-31T09:30:00.000Z', checkpoint: null, deliveryToken: `token of ${id}`, ...more },
});

/**
 * Start a server.
 *
 * @param jobs jobs for the first poll
 * @param answer called as in `startFake`; returns a response, or undefined for the usual one
 * @returns the server, with `outcomes`: everything it received, in order, except acks and heartbeats
 */
export async function startFakeJobs(jobs, answer = () => undefined) {
  const outcomes = [];
  const take = (all) => {
    for (const outcome of all) {
      const isNew = !outcomes.some((earlier) => isDeepStrictEqual(earlier, outcome)); // An outcome may be sent again.
      if (isNew && !['ack', 'keepalive'].includes(outcome.action)) outcomes.push(outcome);
    }
    return all.map(({ jobId }) => ({ jobId, success: true }));
  };
  const fake = await startFake(async (call, count) => {
    const special = await answer(call, count);
    if (special !== undefined) return special;
    const { url, body } = call;
    if (url.endsWith('/jobs/settle')) return [200, { results: take(body.outcomes) }];
    if (url.endsWith('/jobs/poll')) {
      const settled = body.settle && take(body.settle);
      const claimed = jobs.splice(0, body.count);
      if (claimed.length === 0) await sleep(20);
      return [200, { jobs: claimed, settled }];
    }
    const [, jobId, action] = ACTION.exec(url) ?? [];
    if (action !== undefined && action !== 'logs') take([{ jobId, action, ...body }]);
    return [200, { success: true }];
  });
  return { ...fake, outcomes };
}

/** Wait until a condition is true. */
export async function until(condition) {
  for (const end = Date.now() + 30_000; !(await condition()); await sleep(5))
    if (Date.now() > end) throw new Error(`never: ${condition}`);
}
