import {
  type CreateJobRequest,
  copyRequest,
  createdJob,
  createJobRequest,
  type JobSummary,
  job,
  killRequest,
  requeueRequest,
  rescheduleRequest,
  waitQuery,
} from '@yardmaster/protocol';
import {
  copyJob,
  deleteJob,
  killJob,
  type PackedJob,
  redeliverCallback,
  requeueJob,
  rescheduleJob,
} from '@yardmaster/store';
import { Reply } from '../call.js';
import { eventSize, json, payloadSize, query, withQuery } from '../input/input.js';
import { Items, oneOrMany } from '../input/one-or-many.js';
import { PER_TAG } from '../limits/units.js';
import { type Created, type CreateInput, create, JOB_LIST, mayWait, slotOfCreate } from './create.js';
import { COPY, PENDING } from './examples.js';
import { DONE, done, doneIf, type Route, route } from './route.js';

/** Endpoints of producers and operators. */
export const JOBS: readonly Route[] = [
  route<CreateInput<CreateJobRequest | Items<PackedJob>>, Created | JobSummary[]>({
    operation: 'createJob',
    method: 'POST',
    path: '/api/v1/spaces/:spaceId/jobs',
    scopes: ['jobs:create'],
    audit: 'job.replace',
    tag: 'Jobs',
    summary: 'Create a job',
    description:
      'Puts a job at the end of the queue of its space. A space exists as soon as a job is created in it. With the header `Idempotency-Key` the call can be sent again without a second job. With `unique` the job is created only if no other job occupies that key. With `scheduledFor` or `delaySeconds` the job becomes claimable later. With `waitSeconds`, the call waits for the end of the job, and needs the scope `jobs:read` too. A list creates its jobs in order; an error half-way has `stored`, how many exist then.',
    input: withQuery(
      query(waitQuery, mayWait),
      oneOrMany(createJobRequest, {
        examples: {
          'Only a name': { name: 'resize' },
          'With a payload and a callback': {
            name: 'resize',
            payload: PENDING.payload,
            maxRetries: 3,
            timeoutSeconds: 300,
            callbackUrl: PENDING.callbackUrl,
            callbackHeaders: PENDING.callbackHeaders,
          },
          'With tags, by which lists find it': { name: 'resize', payload: PENDING.payload, tags: ['eu', 'customer-7'] },
          'Unless a job for this image waits already': {
            name: 'resize',
            payload: PENDING.payload,
            unique: { key: 'cat.png', until: 'started', onConflict: 'replace' },
          },
          'In an hour, with longer and longer delays between attempts': {
            name: 'resize',
            payload: PENDING.payload,
            delaySeconds: 3600,
            maxRetries: 8,
            retry: { delaySeconds: 5, factor: 2, maxDelaySeconds: 600 },
            maxRunSeconds: 1800,
          },
        },
        sizes: payloadSize('payload'),
        list: JOB_LIST,
      }),
    ),
    header: 'idempotency-key',
    slot: slotOfCreate,
    units: { before: ({ body }) => (body instanceof Items ? 0 : PER_TAG * (body.tags?.length ?? 0)) },
    success: {
      status: 201,
      schema: job,
      examples: { 'The job': PENDING },
      else200: {
        schema: createdJob,
        examples: { 'The job that occupies the unique key': { ...PENDING, unique: { key: 'cat.png' } } },
      },
      link: { parameter: 'jobId', from: '/id' },
    },
    refusals: ['JOB_NOT_UNIQUE', 'SPACE_FULL', 'STORAGE_FULL', 'STORAGE_UNSAFE', 'TOO_MANY_WAITERS'],
    handler: create,
  }),
  route({
    operation: 'killJob',
    method: 'POST',
    path: '/api/v1/jobs/:jobId/kill',
    scopes: ['jobs:kill'],
    audit: 'job.kill',
    tag: 'Jobs',
    summary: 'Kill a job',
    description: 'Ends a job that has not ended, also while a worker works on it. Killing a killed job again succeeds.',
    input: json(killRequest, {
      examples: { 'With a reason': { reason: 'The customer has cancelled' }, 'Without a reason': {} },
      sizes: eventSize('reason'),
    }),
    slot: 'urgent',
    success: DONE,
    trigger: 'kill',
    handler: ({ store, caller, id: jobId, input }) => doneIf(killJob(store, caller, jobId, input.reason)),
  }),
  route({
    operation: 'rescheduleJob',
    method: 'POST',
    path: '/api/v1/jobs/:jobId/reschedule',
    scopes: ['jobs:create'],
    audit: 'job.reschedule',
    tag: 'Jobs',
    summary: 'Reschedule a job',
    description:
      'Gives a scheduled or pending job another time. With a time in the past, or a delay of 0, it is pending at the end of the queue.',
    input: json(rescheduleRequest, {
      examples: {
        'In an hour': { delaySeconds: 3600 },
        'At a time': { scheduledFor: '2026-12-24T18:00:00Z' },
        'Now, before jobs of the last ten minutes': { delaySeconds: 0, priority: 600 },
      },
    }),
    success: DONE,
    trigger: 'reschedule',
    handler: ({ store, caller, id: jobId, input }) => done(rescheduleJob(store, caller, jobId, input)),
  }),
  route({
    operation: 'redeliverCallback',
    method: 'POST',
    path: '/api/v1/jobs/:jobId/callback/redeliver',
    scopes: ['jobs:create'],
    audit: 'job.redeliver',
    tag: 'Jobs',
    summary: 'Send the callback of a job again',
    description:
      'The job must have ended in one of the ways of its `callbackOn`. The callback is sent at once, with all its retries.',
    success: DONE,
    refusals: ['JOB_NOT_ENDED', 'NO_CALLBACK', 'STORAGE_FULL'],
    handler: ({ store, caller, id: jobId }) => done(redeliverCallback(store, caller, jobId)),
  }),
  route({
    operation: 'requeueJob',
    method: 'POST',
    path: '/api/v1/jobs/:jobId/requeue',
    scopes: ['jobs:manage'],
    audit: 'job.requeue',
    tag: 'Jobs',
    summary: 'Requeue a dead or killed job',
    description:
      'The job waits again, with all of its attempts ahead: at the end of the queue, or for `delaySeconds`. Its error is cleared, and a callback that is still owed is dropped.',
    input: json(requeueRequest, { examples: { Now: {}, 'In an hour': { delaySeconds: 3600 } } }),
    success: DONE,
    trigger: 'requeue',
    refusals: ['JOB_NOT_UNIQUE'],
    handler: ({ store, caller, id: jobId, input }) => done(requeueJob(store, caller, jobId, input)),
  }),
  route({
    operation: 'copyJob',
    method: 'POST',
    path: '/api/v1/jobs/:jobId/copy',
    scopes: [['jobs:create', 'jobs:read']],
    audit: 'job.copy',
    tag: 'Jobs',
    summary: 'Copy a job',
    description:
      'Creates a pending job with the name, the payload and the options of a job of any status, but without its unique key and its schedule.',
    input: json(copyRequest, {
      examples: { 'As it is': {}, 'With another payload': { payload: { image: 'dog.png', width: 320 } } },
      sizes: payloadSize('payload'),
    }),
    success: { status: 201, schema: job, examples: { 'The copy': COPY }, link: { parameter: 'jobId', from: '/id' } },
    refusals: ['SPACE_FULL', 'STORAGE_FULL', 'STORAGE_UNSAFE'],
    async handler({ store, caller, id: jobId, input }) {
      const copy = await copyJob(store, caller, jobId, input);
      return new Reply(copy, { act: { details: { copyId: copy.id } } });
    },
  }),
  route({
    operation: 'deleteJob',
    method: 'DELETE',
    path: '/api/v1/jobs/:jobId',
    scopes: ['jobs:manage'],
    audit: 'job.delete',
    tag: 'Jobs',
    summary: 'Delete a job',
    description: 'Removes a job that has ended, with its history and logs. A callback that is still owed is not sent.',
    success: DONE,
    refusals: ['JOB_NOT_ENDED'],
    handler: ({ store, caller, id: jobId }) => done(deleteJob(store, caller, jobId)),
  }),
];
