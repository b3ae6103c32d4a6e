import {
  claimOutcome,
  completeRequest,
  doneResponse,
  failRequest,
  polledJobs,
  pollRequest,
} from '@yardmaster/protocol';
import { ackJob, claimJob, completeJob, failJob, pollJobs } from '@yardmaster/store';
import { CLAIMED, COMPLETED } from './examples.js';
import { DONE, done, eventSize, payloadSize, type Route, route } from './route.js';

/** Endpoints with which workers claim, start and end jobs. */
export const WORK: readonly Route[] = [
  route({
    operation: 'pollJobs',
    method: 'POST',
    path: '/api/v1/spaces/:spaceId/jobs/poll',
    scopes: ['jobs:poll'],
    tag: 'Work',
    summary: 'Poll for jobs',
    description:
      'Claims pending jobs of a space, the oldest first, each for this caller only. The caller must ack them within the delivery window. The body may be absent.',
    body: pollRequest,
    response: polledJobs,
    trigger: 'poll',
    examples: {
      request: {
        'One job of any name': {},
        'Up to ten jobs of two names': { count: 10, types: ['resize', 'crop'] },
        'In the older spelling': { name: 'resize' },
      },
      response: { 'A job': { jobs: [CLAIMED] }, 'No pending job': { jobs: [] } },
    },
    handler: async ({ store, spaceId, input }) => ({ jobs: await pollJobs(store, spaceId, input) }),
  }),
  route({
    operation: 'claimJob',
    method: 'POST',
    path: '/api/v1/jobs/:jobId/claim',
    scopes: ['jobs:poll'],
    tag: 'Work',
    summary: 'Claim a job by its id',
    description: 'Claims this job if it is pending. A body is not read.',
    response: claimOutcome,
    trigger: 'claim',
    examples: {
      response: {
        Claimed: { claimed: true, job: CLAIMED },
        'Another worker has it': { claimed: false, reason: 'not_pending', status: 'running' },
      },
    },
    handler: ({ store, caller, jobId }) => claimJob(store, caller, jobId),
  }),
  route({
    operation: 'ackJob',
    method: 'POST',
    path: '/api/v1/jobs/:jobId/ack',
    scopes: ['jobs:ack'],
    isUrgent: true,
    tag: 'Work',
    summary: 'Acknowledge a job',
    description: 'Starts the attempt, and its execution window. A body is not read.',
    response: doneResponse,
    trigger: 'ack',
    examples: { response: DONE },
    handler: ({ store, caller, jobId }) => done(ackJob(store, caller, jobId)),
  }),
  route({
    operation: 'completeJob',
    method: 'POST',
    path: '/api/v1/jobs/:jobId/complete',
    scopes: ['jobs:complete'],
    isUrgent: true,
    tag: 'Work',
    summary: 'Complete a job',
    description: 'Ends the job with its result; its callback is then sent. The body may be absent.',
    body: completeRequest,
    sizeRules: payloadSize('result'),
    response: doneResponse,
    trigger: 'complete',
    examples: {
      request: { 'With a result': { result: COMPLETED.result }, 'Without a result': {} },
      response: DONE,
    },
    handler: ({ store, caller, jobId, input }) => done(completeJob(store, caller, jobId, input.result)),
  }),
  route({
    operation: 'failJob',
    method: 'POST',
    path: '/api/v1/jobs/:jobId/fail',
    scopes: ['jobs:fail'],
    isUrgent: true,
    tag: 'Work',
    summary: 'Fail the attempt of a job',
    description:
      'While retries remain, the job is pending again, at the end of the queue. Otherwise it is dead, and its callback is sent.',
    body: failRequest,
    sizeRules: eventSize('error'),
    response: doneResponse,
    trigger: 'fail',
    examples: {
      request: {
        'A sentence': { error: 'cat.png is not an image' },
        'An object': { error: { message: 'cat.png is not an image', code: 'EBADIMAGE' } },
      },
      response: DONE,
    },
    handler: ({ store, caller, jobId, input }) => done(failJob(store, caller, jobId, input.error)),
  }),
];
