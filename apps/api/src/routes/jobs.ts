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
      "Adds a job to the end of its space's queue. You don't need to create the space first.\n\nSend an `Idempotency-Key` to make retries safe. Use `unique` to create the job only if no other job holds the same key, `scheduledFor` or `delaySeconds` to run it later, and `waitSeconds` to wait for it to end, which also requires the scope `jobs:read`.\n\nTo create several jobs in one call, send a list. The jobs are created in order; if an error occurs partway, its field `stored` says how many were stored.",
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
          'With tags to filter by': { name: 'resize', payload: PENDING.payload, tags: ['eu', 'customer-7'] },
          'Unless a job for this image is already waiting': {
            name: 'resize',
            payload: PENDING.payload,
            unique: { key: 'cat.png', until: 'started', onConflict: 'replace' },
          },
          'In an hour, with exponential backoff': {
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
      examples: { 'Created job': PENDING },
      else200: {
        schema: createdJob,
        examples: { 'The job that holds the unique key': { ...PENDING, unique: { key: 'cat.png' } } },
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
    description:
      'Stops a job for good, even while a worker is running it. Killing a job that is already killed succeeds.',
    input: json(killRequest, {
      examples: { 'With a reason': { reason: 'The customer canceled' }, 'Without a reason': {} },
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
      'Changes when a scheduled or pending job becomes claimable. With a time in the past or a delay of 0, it moves to the end of the queue.',
    input: json(rescheduleRequest, {
      examples: {
        'In an hour': { delaySeconds: 3600 },
        'At a certain time': { scheduledFor: '2026-12-24T18:00:00Z' },
        'Now, ahead of jobs from the last ten minutes': { delaySeconds: 0, priority: 600 },
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
    summary: "Redeliver a job's callback",
    description:
      'Sends the callback immediately, with a full set of retries. The job must have ended with an outcome listed in its `callbackOn`.',
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
      'Puts a dead or killed job at the end of the queue, or schedules it if you set `delaySeconds`. The job gets all of its attempts back, its error is cleared, and a callback not yet delivered is dropped.',
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
      'Creates a pending job with the name, payload and options of an existing job in any status. The unique key and the schedule are not copied.',
    input: json(copyRequest, {
      examples: { 'With the same payload': {}, 'With a new payload': { payload: { image: 'dog.png', width: 320 } } },
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
    description:
      'Deletes a job that has ended, along with its history and logs. A callback not yet delivered is dropped.',
    success: DONE,
    refusals: ['JOB_NOT_ENDED'],
    handler: ({ store, caller, id: jobId }) => done(deleteJob(store, caller, jobId)),
  }),
];
