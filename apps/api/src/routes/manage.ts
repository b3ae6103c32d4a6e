import { copyRequest, doneResponse, job, requeueRequest } from '@yardmaster/protocol';
import { copyJob, deleteJob, requeueJob } from '@yardmaster/store';
import { COPY } from './examples.js';
import { DONE, done, payloadSize, type Route, route } from './route.js';

/** Endpoints of operators, for jobs that have ended. */
export const MANAGE: readonly Route[] = [
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
    body: requeueRequest,
    response: doneResponse,
    trigger: 'requeue',
    refusals: ['JOB_NOT_UNIQUE'],
    examples: { request: { Now: {}, 'In an hour': { delaySeconds: 3600 } }, response: DONE },
    handler: ({ store, caller, jobId, input }) => done(requeueJob(store, caller, jobId, input)),
  }),
  route({
    operation: 'copyJob',
    method: 'POST',
    path: '/api/v1/jobs/:jobId/copy',
    scopes: ['jobs:create'],
    alsoScope: 'jobs:read',
    tag: 'Jobs',
    summary: 'Copy a job',
    description:
      'Creates a pending job with the name, the payload and the options of a job of any status, but without its unique key and its schedule.',
    body: copyRequest,
    sizeRules: payloadSize('payload'),
    status: 201,
    response: job,
    refusals: ['SPACE_FULL', 'STORAGE_FULL', 'STORAGE_UNSAFE'],
    examples: {
      request: { 'As it is': {}, 'With another payload': { payload: { image: 'dog.png', width: 320 } } },
      response: { 'The copy': COPY },
    },
    links: { parameter: 'jobId', from: '/id' },
    handler: ({ store, caller, jobId, input }) => copyJob(store, caller, jobId, input),
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
    response: doneResponse,
    refusals: ['JOB_NOT_ENDED'],
    examples: { response: DONE },
    handler: ({ store, caller, jobId }) => done(deleteJob(store, caller, jobId)),
  }),
];
