// The kinds of jobs in a soak. The payload of a job contains its kind, so that any worker can work on it.
import { setTimeout as delay } from 'node:timers/promises';

/** The kinds of twenty jobs. */
const MIX = [
  ...Array(9).fill('plain'),
  ...Array(3).fill('logged'),
  ...Array(2).fill('retried'),
  ...Array(2).fill('calledBack'),
  'dies',
  'silent',
  'killed',
  'notAcked',
];

/** The status at the end of each kind. */
export const ENDS = {
  plain: 'completed',
  logged: 'completed',
  retried: 'completed',
  calledBack: 'completed',
  dies: 'dead',
  silent: 'dead',
  killed: 'killed',
  notAcked: 'completed',
};

/** Return the kind of job n. The order differs from MIX, so that the load is even: 7 and 20 have no common divisor. */
export const kindOf = (n) => MIX[(n * 7) % MIX.length];

/** Make the request for a job. */
export function requestOf(kind, n, callbackUrl) {
  const request = { name: kind, payload: { kind, n, text: 'x'.repeat(160) } };
  if (kind === 'calledBack') return { ...request, callbackUrl };
  if (kind === 'dies') return { ...request, maxRetries: 1 };
  if (kind === 'silent') return { ...request, maxRetries: 0, timeoutSeconds: 2 };
  return request;
}

const LINES = Array.from({ length: 10 }, (_, i) => ({ level: 'info', message: `line ${i} ${'of a log '.repeat(8)}` }));

/** Wait until a scheduler has given a job this status. */
async function awaitStatus(must, id, status) {
  for (let asked = 0; asked < 40; asked++) {
    await delay(500);
    if ((await must('GET', `/jobs/${id}`)).status === status) return;
  }
  throw new Error(`job ${id} is not ${status} after 20 s`);
}

async function complete(must, { id }) {
  await must('POST', `/jobs/${id}/progress`, { percent: 50, message: 'half' });
  await must('POST', `/jobs/${id}/complete`, { result: { ok: true } });
}

/** The work of a worker on an acked job; it returns `again` when the job is pending again. */
export const WORK = {
  plain: complete,
  calledBack: complete,
  async logged(must, job) {
    const { id } = job;
    await must('POST', `/jobs/${id}/logs`, { logs: LINES });
    await must('POST', `/jobs/${id}/event`, { stage: 'decode' });
    await must('POST', `/jobs/${id}/checkpoint`, { at: 5 });
    await complete(must, job);
    await must('GET', `/jobs/${id}/logs?limit=5`);
    await must('GET', `/jobs/${id}`);
  },
  async retried(must, job) {
    if (job.attemptNumber > 0) return complete(must, job);
    await must('POST', `/jobs/${job.id}/fail`, { error: 'the first attempt fails' });
    return 'again';
  },
  async dies(must, { id, attemptNumber }) {
    await must('POST', `/jobs/${id}/fail`, { error: { why: 'every attempt fails' } });
    return attemptNumber > 0 ? undefined : 'again';
  },
  async silent(must, { id }) {
    await must('POST', `/jobs/${id}/keepalive`);
    await awaitStatus(must, id, 'dead');
  },
};

/** The work on jobs that are claimed by id: no worker polls their spaces. */
export const CLAIMED_BY_ID = {
  async killed(must, { id }, n) {
    // Kill it in each of the three possible statuses.
    if (n % 3 > 0) await must('POST', `/jobs/${id}/claim`);
    if (n % 3 > 1) await must('POST', `/jobs/${id}/ack`);
    await must('POST', `/jobs/${id}/kill`, { reason: 'not wanted any more' });
  },
  async notAcked(must, job) {
    await must('POST', `/jobs/${job.id}/claim`);
    await awaitStatus(must, job.id, 'pending');
    await must('POST', `/jobs/${job.id}/claim`);
    await must('POST', `/jobs/${job.id}/ack`);
    await complete(must, job);
  },
};
