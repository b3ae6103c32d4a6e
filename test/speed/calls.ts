import { createJob, jobIn } from '../support/jobs.js';
import type { TestService } from '../support/service.js';

/** A call whose commands are counted. */
export interface CountedCall {
  name: string;
  /** Of a row of ROUTES. */
  path: string;
  body?: unknown;
  /** Where it is made; for a path of a job, the space that its job is in. */
  spaceId?: string;
  /** Bring about what the call needs. @returns the id of its job; '' when it is for none */
  prepare?: (service: TestService) => Promise<string>;
}

const SPACE = 'counted';
const callback = { callbackUrl: 'http://callback.example/' };
const jobs = '/api/v1/spaces/:spaceId/jobs';
const poll = `${jobs}/poll`;
const ofJob = (verb: string) => `/api/v1/jobs/:jobId/${verb}`;

const job =
  (status: Parameters<typeof jobIn>[1], fields = {}) =>
  (service: TestService) =>
    jobIn(service, status, SPACE, fields);
const waiting = (spaceId: string, count: number) => async (service: TestService) => {
  for (let n = 0; n < count; n++) await createJob(service, spaceId);
  return '';
};

/** Every call of a producer or a worker, and those whose work depends on what they meet. */
export const CALLS: CountedCall[] = [
  { name: 'create', path: jobs, body: { name: 'work', payload: { n: 1 } } },
  {
    name: 'create with everything',
    path: jobs,
    body: {
      name: 'work',
      payload: { n: 1 },
      maxRetries: 1,
      timeoutSeconds: 5,
      ...callback,
      callbackHeaders: { a: 'b' },
    },
  },
  { name: 'poll 1', path: poll, body: { count: 1 }, spaceId: 'poll-1', prepare: waiting('poll-1', 3) },
  {
    name: 'poll 1 by name',
    path: poll,
    body: { count: 1, types: ['work'] },
    spaceId: 'poll-by-name',
    prepare: waiting('poll-by-name', 3),
  },
  { name: 'poll 50', path: poll, body: { count: 50 }, spaceId: 'poll-50', prepare: waiting('poll-50', 53) },
  { name: 'empty poll', path: poll, body: { count: 1 }, spaceId: 'empty' },
  { name: 'empty poll by name', path: poll, body: { count: 1, types: ['work'] }, spaceId: 'empty' },
  { name: 'claim', path: ofJob('claim'), prepare: job('pending') },
  { name: 'ack', path: ofJob('ack'), prepare: job('delivered') },
  { name: 'progress', path: ofJob('progress'), body: { percent: 1, message: 'x' }, prepare: job('running') },
  { name: 'keepalive', path: ofJob('keepalive'), prepare: job('running') },
  { name: 'checkpoint', path: ofJob('checkpoint'), body: { at: 1 }, prepare: job('running') },
  { name: 'event', path: ofJob('event'), body: 'seen', prepare: job('running') },
  { name: 'logs, one entry', path: ofJob('logs'), body: ['a line'], prepare: job('running') },
  { name: 'logs, ten entries', path: ofJob('logs'), body: Array(10).fill('a line'), prepare: job('running') },
  { name: 'complete', path: ofJob('complete'), body: { result: 1 }, prepare: job('running') },
  { name: 'complete with callback', path: ofJob('complete'), body: { result: 1 }, prepare: job('running', callback) },
  { name: 'fail, to be tried again', path: ofJob('fail'), body: { error: 'x' }, prepare: job('running') },
  { name: 'fail for good', path: ofJob('fail'), body: { error: 'x' }, prepare: job('running', { maxRetries: 0 }) },
  { name: 'kill of a pending job', path: ofJob('kill'), prepare: job('pending') },
  { name: 'kill of a running job', path: ofJob('kill'), prepare: job('running') },
  { name: 'redeliver', path: ofJob('callback/redeliver'), prepare: job('completed', callback) },
];

/** Make a call. */
export async function make(service: TestService, call: CountedCall, { id, key }: { id: string; key: string }) {
  const { path, body, spaceId = SPACE } = call;
  const filled = path.replace(':spaceId', spaceId).replace(':jobId', id).replace('/api/v1', '');
  const { status, text } = await service.call('POST', filled, { body, key });
  if (status >= 300) throw new Error(`${filled}: ${status} ${text}`);
}
