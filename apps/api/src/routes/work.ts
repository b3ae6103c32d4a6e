import {
  claimOutcome,
  completeRequest,
  failRequest,
  polledJobs,
  pollRequest,
  releaseRequest,
  settleRequest,
  settleResponse,
} from '@yardmaster/protocol';
import { ackJob, claimJob, completeJob, failJob, releaseJob } from '@yardmaster/store';
import { eventSize, json, payloadSize } from '../input/input.js';
import { outcomes, outcomesIn } from '../input/outcomes.js';
import { CLAIMED, COMPLETED, OUTCOME, PENDING, TURN } from './examples.js';
import { poll, SETTLE_SCOPES, settle } from './poll.js';
import { DONE, type Route, route } from './route.js';
import { ofWorker } from './worker.js';

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
      'Claims pending jobs of a space, the oldest first, each for this caller only. The caller must ack them within the delivery window. With `waitSeconds`, the call waits for the first job when none is pending. With `settle`, it first does what the calls for these actions do, in order, and in the same step. The body may be absent.',
    input: json(pollRequest, {
      examples: {
        'One job of any name': {},
        'Up to ten jobs of two names': { count: 10, types: ['resize', 'crop'] },
        'In the older spelling': { name: 'resize' },
        'Wait for a job': { types: ['resize'], waitSeconds: 20 },
        'Complete a job, and get the next one': TURN,
      },
      check: outcomesIn('settle'),
    }),
    slot: ({ settle = [] }) => (settle.length > 0 ? 'urgent' : 'normal'),
    success: {
      schema: polledJobs,
      examples: {
        'A job': { jobs: [CLAIMED] },
        'No pending job': { jobs: [] },
        'A job was completed': { jobs: [], settled: [{ jobId: CLAIMED.id, success: true }] },
      },
    },
    trigger: 'poll',
    refusals: ['TOO_MANY_WAITERS'],
    handler: poll,
  }),
  route({
    operation: 'settleJobs',
    method: 'POST',
    path: '/api/v1/spaces/:spaceId/jobs/settle',
    scopes: SETTLE_SCOPES,
    tag: 'Work',
    summary: 'Settle jobs',
    description:
      'Does what the calls for these actions do, in order, in one step. Each outcome needs the scope of its action. One that is refused does not affect the others; an invalid one refuses the whole call, and nothing is done.',
    input: outcomes(settleRequest, {
      examples: { 'Two jobs': { outcomes: [OUTCOME, { jobId: PENDING.id, action: 'keepalive' }] } },
    }),
    slot: 'urgent',
    success: {
      schema: settleResponse,
      examples: {
        'One was refused': {
          results: [
            { jobId: CLAIMED.id, success: true },
            {
              jobId: PENDING.id,
              success: false,
              error: 'Job is not running',
              code: 'JOB_NOT_RUNNING',
              jobStatus: 'pending',
            },
          ],
        },
      },
    },
    handler: settle,
  }),
  route({
    operation: 'claimJob',
    method: 'POST',
    path: '/api/v1/jobs/:jobId/claim',
    scopes: ['jobs:poll'],
    tag: 'Work',
    summary: 'Claim a job by its id',
    description: 'Claims this job if it is pending and not paused. A body is not read.',
    success: {
      schema: claimOutcome,
      examples: {
        Claimed: { claimed: true, job: CLAIMED },
        'Another worker has it': { claimed: false, reason: 'not_pending', status: 'running' },
        'Its name is paused': { claimed: false, reason: 'paused', status: 'pending' },
      },
    },
    trigger: 'claim',
    handler: ({ store, caller, id: jobId }) => claimJob(store, caller, jobId),
  }),
  route({
    operation: 'ackJob',
    method: 'POST',
    path: '/api/v1/jobs/:jobId/ack',
    scopes: ['jobs:ack'],
    tag: 'Work',
    summary: 'Acknowledge a job',
    description: 'Starts the attempt, and its execution window. A body is not read.',
    header: 'x-delivery-token',
    slot: 'urgent',
    success: DONE,
    trigger: 'ack',
    refusals: ['DELIVERY_LOST', 'JOB_NOT_RUNNING'],
    handler: ofWorker(ackJob),
  }),
  route({
    operation: 'completeJob',
    method: 'POST',
    path: '/api/v1/jobs/:jobId/complete',
    scopes: ['jobs:complete'],
    tag: 'Work',
    summary: 'Complete a job',
    description: 'Ends the job with its result; its callback is then sent. The body may be absent.',
    input: json(completeRequest, {
      examples: { 'With a result': { result: COMPLETED.result }, 'Without a result': {} },
      sizes: payloadSize('result'),
    }),
    header: 'x-delivery-token',
    slot: 'urgent',
    success: DONE,
    trigger: 'complete',
    refusals: ['DELIVERY_LOST'],
    handler: ofWorker((store, worker, id, { result }) => completeJob(store, worker, id, result)),
  }),
  route({
    operation: 'failJob',
    method: 'POST',
    path: '/api/v1/jobs/:jobId/fail',
    scopes: ['jobs:fail'],
    tag: 'Work',
    summary: 'Fail the attempt of a job',
    description:
      'While retries remain, the job is pending again, at the end of the queue, or scheduled when its `retry` or `retryAfterSeconds` has a delay. Otherwise it is dead, and its callback is sent.',
    input: json(failRequest, {
      examples: {
        'A sentence': { error: 'cat.png is not an image' },
        'An object': { error: { message: 'cat.png is not an image', code: 'EBADIMAGE' } },
        'No retry can help': { error: 'cat.png is not an image', retryable: false },
        'Not before a minute has passed': { error: 'the store of images is busy', retryAfterSeconds: 60 },
      },
      sizes: eventSize('error'),
    }),
    header: 'x-delivery-token',
    slot: 'urgent',
    success: DONE,
    trigger: 'fail',
    refusals: ['DELIVERY_LOST'],
    handler: ofWorker(failJob),
  }),
  route({
    operation: 'releaseJob',
    method: 'POST',
    path: '/api/v1/jobs/:jobId/release',
    scopes: ['jobs:fail'],
    tag: 'Work',
    summary: 'Release a job',
    description:
      'Gives a claimed job back, for example before the worker stops. The job is pending again, at its place by creation, or scheduled with `delaySeconds`, and no attempt is counted. The body may be absent.',
    input: json(releaseRequest, {
      examples: {
        'With a reason': { reason: 'worker stops' },
        'Without a reason': {},
        'For later': { reason: 'the receiver is busy', delaySeconds: 30 },
      },
      sizes: eventSize('reason'),
    }),
    header: 'x-delivery-token',
    slot: 'urgent',
    success: DONE,
    trigger: 'release',
    refusals: ['DELIVERY_LOST'],
    handler: ofWorker(releaseJob),
  }),
];
