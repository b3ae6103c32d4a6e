import { claimOutcome, polledJobs, pollRequest, settleRequest, settleResponse } from '@yardmaster/protocol';
import { claimJob } from '@yardmaster/store';
import { json } from '../input/input.js';
import { outcomes, outcomesIn } from '../input/outcomes.js';
import { PER_JOB } from '../limits/units.js';
import { CLAIMED, OUTCOME, PENDING, TURN } from './examples.js';
import { poll, SETTLE_SCOPES, settle } from './poll.js';
import { type Route, route } from './route.js';

/** Endpoints for workers to claim and settle jobs. */
export const WORK: readonly Route[] = [
  route({
    operation: 'pollJobs',
    method: 'POST',
    path: '/api/v1/spaces/:spaceId/jobs/poll',
    scopes: ['jobs:poll'],
    tag: 'Work',
    summary: 'Poll for jobs',
    description:
      'Claims pending jobs of a space, oldest first. No other worker gets them; ack them within the delivery window. With `waitSeconds`, the call waits for a job if none is pending. With `settle`, it first reports the outcomes of other jobs, in order and in the same atomic step. The body is optional.',
    input: json(pollRequest, {
      examples: {
        'One job with any name': {},
        'Up to ten jobs with two names': { count: 10, types: ['resize', 'crop'] },
        'With the older field': { name: 'resize' },
        'Wait for a job': { types: ['resize'], waitSeconds: 20 },
        'Complete a job and get the next': TURN,
      },
      check: outcomesIn('settle'),
    }),
    slot: ({ settle = [] }) => (settle.length > 0 ? 'urgent' : 'normal'),
    units: {
      before: ({ settle = [] }) => PER_JOB.settled * settle.length,
      after: ({ jobs }) => PER_JOB.claimed * Math.max(0, jobs.length - 1),
    },
    success: {
      schema: polledJobs,
      examples: {
        'A job': { jobs: [CLAIMED] },
        'No pending job': { jobs: [] },
        'A completed job, and no pending one': { jobs: [], settled: [{ jobId: CLAIMED.id, success: true }] },
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
      "Reports the outcomes of several jobs in one call: the same actions as the single calls, in order and in one atomic step. Each outcome requires the scope of its action. An outcome that is refused doesn't affect the others. If an outcome is invalid, the whole call is refused and nothing is done.",
    input: outcomes(settleRequest, {
      examples: { 'Two jobs': { outcomes: [OUTCOME, { jobId: PENDING.id, action: 'keepalive' }] } },
    }),
    slot: 'urgent',
    units: { before: ({ outcomes }) => PER_JOB.settled * (outcomes.length - 1) },
    success: {
      schema: settleResponse,
      examples: {
        'One refused outcome': {
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
    summary: 'Claim a job by ID',
    description: 'Claims this job if it is pending and not paused. Takes no body.',
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
];
