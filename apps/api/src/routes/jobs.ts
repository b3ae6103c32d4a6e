import { createdJob, createJobRequest, doneResponse, job, killRequest, rescheduleRequest } from '@yardmaster/protocol';
import { killJob, redeliverCallback, rescheduleJob } from '@yardmaster/store';
import { create, JOB_LIST, waitForEnd } from './create.js';
import { PENDING } from './examples.js';
import { DONE, done, eventSize, payloadSize, type Route, route } from './route.js';

/** Endpoints of producers and operators. */
export const JOBS: readonly Route[] = [
  route({
    operation: 'createJob',
    method: 'POST',
    path: '/api/v1/spaces/:spaceId/jobs',
    scopes: ['jobs:create'],
    tag: 'Jobs',
    summary: 'Create a job',
    description:
      'Puts a job at the end of the queue of its space. A space exists as soon as a job is created in it. With the header `Idempotency-Key` the call can be sent again without a second job. With `unique` the job is created only if no other job occupies that key. With `scheduledFor` or `delaySeconds` the job becomes claimable later. With `waitSeconds`, the call waits for the end of the job, and needs the scope `jobs:read` too. A list creates its jobs in order; an error half-way has `stored`, how many exist then.',
    waitSecondsIn: 'query',
    header: 'idempotency-key',
    body: createJobRequest,
    list: JOB_LIST,
    sizeRules: payloadSize('payload'),
    status: 201,
    response: job,
    response200: createdJob,
    refusals: ['JOB_NOT_UNIQUE', 'SPACE_FULL', 'STORAGE_FULL', 'STORAGE_UNSAFE'],
    examples: {
      request: {
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
      response: { 'The job': PENDING },
      response200: { 'The job that occupies the unique key': { ...PENDING, unique: { key: 'cat.png' } } },
    },
    links: { parameter: 'jobId', from: '/id' },
    handler: create,
    wait: waitForEnd,
  }),
  route({
    operation: 'killJob',
    method: 'POST',
    path: '/api/v1/jobs/:jobId/kill',
    scopes: ['jobs:kill'],
    audit: 'job.kill',
    isUrgent: true,
    tag: 'Jobs',
    summary: 'Kill a job',
    description: 'Ends a job that has not ended, also while a worker works on it. Killing a killed job again succeeds.',
    body: killRequest,
    sizeRules: eventSize('reason'),
    response: doneResponse,
    trigger: 'kill',
    examples: {
      request: { 'With a reason': { reason: 'The customer has cancelled' }, 'Without a reason': {} },
      response: DONE,
    },
    handler: ({ store, caller, jobId, input }) => done(killJob(store, caller, jobId, input.reason)),
  }),
  route({
    operation: 'rescheduleJob',
    method: 'POST',
    path: '/api/v1/jobs/:jobId/reschedule',
    scopes: ['jobs:create'],
    tag: 'Jobs',
    summary: 'Reschedule a job',
    description:
      'Gives a scheduled or pending job another time. With a time in the past, or a delay of 0, it is pending at the end of the queue.',
    body: rescheduleRequest,
    response: doneResponse,
    trigger: 'reschedule',
    examples: {
      request: {
        'In an hour': { delaySeconds: 3600 },
        'At a time': { scheduledFor: '2026-12-24T18:00:00Z' },
        'Now, before jobs of the last ten minutes': { delaySeconds: 0, priority: 600 },
      },
      response: DONE,
    },
    handler: ({ store, caller, jobId, input }) => done(rescheduleJob(store, caller, jobId, input)),
  }),
  route({
    operation: 'redeliverCallback',
    method: 'POST',
    path: '/api/v1/jobs/:jobId/callback/redeliver',
    scopes: ['jobs:create'],
    tag: 'Jobs',
    summary: 'Send the callback of a job again',
    description:
      'The job must have ended in one of the ways of its `callbackOn`. The callback is sent at once, with all its retries.',
    response: doneResponse,
    refusals: ['JOB_NOT_ENDED', 'NO_CALLBACK', 'STORAGE_FULL'],
    examples: { response: DONE },
    handler: ({ store, caller, jobId }) => done(redeliverCallback(store, caller, jobId)),
  }),
];
