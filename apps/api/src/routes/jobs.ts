import { createJobRequest, doneResponse, job, killRequest } from '@yardmaster/protocol';
import { createJob, killJob, redeliverCallback } from '@yardmaster/store';
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
    description: 'Puts a job at the end of the queue of its space. A space exists as soon as a job is created in it.',
    body: createJobRequest,
    sizeRules: payloadSize('payload'),
    status: 201,
    response: job,
    refusals: ['STORAGE_FULL', 'STORAGE_UNSAFE'],
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
      },
      response: { 'The job': PENDING },
    },
    links: { parameter: 'jobId', from: '/id' },
    handler: ({ store, spaceId, input }) => createJob(store, spaceId, input),
  }),
  route({
    operation: 'killJob',
    method: 'POST',
    path: '/api/v1/jobs/:jobId/kill',
    scopes: ['jobs:kill'],
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
    operation: 'redeliverCallback',
    method: 'POST',
    path: '/api/v1/jobs/:jobId/callback/redeliver',
    scopes: ['jobs:create'],
    tag: 'Jobs',
    summary: 'Send the callback of a job again',
    description: 'The job must be completed or dead. The callback is sent at once, with all its retries.',
    response: doneResponse,
    refusals: ['JOB_NOT_ENDED', 'NO_CALLBACK', 'STORAGE_FULL'],
    examples: { response: DONE },
    handler: ({ store, caller, jobId }) => done(redeliverCallback(store, caller, jobId)),
  }),
];
