import type { Operation } from '../operation.js';
import { CLAIMED, COMPLETED, PROGRESS } from '../samples.js';
import { DONE } from './done.js';

/** Refused when Redis is full; the execution window is opened again all the same. */
const KEEPS_SOMETHING = ['STORAGE_FULL'] as const;

/** Operations of workers. */
export const WORK = {
  pollJobs: {
    tag: 'Work',
    summary: 'Poll for jobs',
    description:
      'Takes pending jobs of a space, the oldest first, each for this caller alone. They are then to be acked within the delivery window. The body may be absent.',
    trigger: 'poll',
    request: {
      'Any one job': {},
      'Up to ten of two names': { count: 10, types: ['resize', 'crop'] },
      'In the older spelling': { name: 'resize' },
    },
    response: { 'A job': { jobs: [CLAIMED] }, 'Nothing to do': { jobs: [] } },
  },
  claimJob: {
    tag: 'Work',
    summary: 'Claim a job by its id',
    description: 'Takes this one job, if it is pending. A body is not read.',
    trigger: 'claim',
    response: {
      Claimed: { claimed: true, job: CLAIMED },
      'Somebody else has it': { claimed: false, reason: 'not_pending', status: 'running' },
    },
  },
  ackJob: {
    tag: 'Work',
    summary: 'Acknowledge a job',
    description: 'Starts the attempt, and its execution window. A body is not read.',
    trigger: 'ack',
    response: DONE,
  },
  reportProgress: {
    tag: 'Work',
    summary: 'Report progress',
    description: 'Opens the execution window again.',
    trigger: 'progress',
    refusals: KEEPS_SOMETHING,
    request: { 'With stages': PROGRESS, 'In short': { percent: 99.5, message: 'Nearly there' } },
    response: DONE,
  },
  checkpointJob: {
    tag: 'Work',
    summary: 'Store a checkpoint',
    description:
      'Any JSON, which is handed out with the job when it is retried. Opens the execution window again. An absent body is null.',
    trigger: 'checkpoint',
    refusals: KEEPS_SOMETHING,
    request: { 'How far it is': { row: 4_200 } },
    response: DONE,
  },
  recordEvent: {
    tag: 'Work',
    summary: 'Record an event',
    description: 'Any JSON, for the history and the streams. Opens the execution window again. An absent body is null.',
    trigger: 'event',
    refusals: KEEPS_SOMETHING,
    request: { 'An object': { cache: 'miss' }, 'A word': 'decoded' },
    response: DONE,
  },
  keepJobAlive: {
    tag: 'Work',
    summary: 'Keep a job alive',
    description: 'Opens the execution window again, and leaves no trace in the history. A body is not read.',
    trigger: 'keepalive',
    response: DONE,
  },
  completeJob: {
    tag: 'Work',
    summary: 'Complete a job',
    description: 'Ends the job with its result; its callback is then sent. The body may be absent.',
    trigger: 'complete',
    request: { 'With a result': { result: COMPLETED.result }, 'Without one': {} },
    response: DONE,
  },
  failJob: {
    tag: 'Work',
    summary: 'Fail the attempt of a job',
    description:
      'While retries remain the job is pending again, at the end of the queue; else it is dead, and its callback is sent.',
    trigger: 'fail',
    request: {
      'A sentence': { error: 'cat.png is no image' },
      'An object': { error: { message: 'cat.png is no image', code: 'EBADIMAGE' } },
    },
    response: DONE,
  },
} as const satisfies Record<string, Operation>;
