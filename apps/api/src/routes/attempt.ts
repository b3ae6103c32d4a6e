import {
  completeRequest,
  dataRequest,
  eventOptions,
  failRequest,
  invalidRequest,
  isJobId,
  type Outcome,
  progressRequest,
  releaseRequest,
  YardmasterError,
} from '@yardmaster/protocol';
import {
  ackJob,
  completeJob,
  failJob,
  heartbeatJob,
  partitionOfJob,
  readSpaceOf,
  releaseJob,
  type Store,
  type Worker,
} from '@yardmaster/store';
import type { Call } from '../call.js';
import { eventSize, json, payloadSize, query, withQuery } from '../input/input.js';
import { COMPLETED, PROGRESS } from './examples.js';
import { DONE, type Route, route } from './route.js';

/**
 * Return the handler of a call of a worker on its job. The row has the header `x-delivery-token`, and a space with the
 * setting `requireDeliveryToken` refuses calls without it.
 */
export const ofWorker =
  <B>(run: (store: Store, worker: Worker, jobId: string, input: B) => Promise<void>) =>
  async (call: Call<B>): Promise<{ success: true }> => {
    const { store, caller, id, input, header } = call;
    if (mayLackToken(call)) await requireToken(call);
    await run(store, { spaceId: caller.spaceId, deliveryToken: header }, id, input);
    return { success: true };
  };

/** Whether a call has no token, and its job may be in a space that requires one. It costs no call to Redis. */
const mayLackToken = ({ store, header, id }: Call) =>
  header === null && store.known.spaces.isOnIn(partitionOfJob(id), 'requireDeliveryToken') && isJobId(id);

/**
 * Refuse a call without a token on a job whose space requires one. Callers that may not touch the job learn nothing
 * here: the call itself refuses them.
 *
 * @throws INVALID_REQUEST, UNAVAILABLE
 */
async function requireToken({ store, id, caller }: Call): Promise<void> {
  const spaceId = await readSpaceOf(store, id);
  if (spaceId === null || (caller.spaceId !== null && caller.spaceId !== spaceId)) return;
  if (store.known.spaces.of(spaceId)?.requireDeliveryToken) {
    throw new YardmasterError('INVALID_REQUEST', 'x-delivery-token is required in this space');
  }
}

/** Refuse outcomes without a token in a space that requires one. @throws INVALID_REQUEST */
export function requireTokens(
  { store, spaceId }: Call,
  outcomes: readonly Outcome[],
  list: 'outcomes' | 'settle',
): void {
  if (!store.known.spaces.of(spaceId)?.requireDeliveryToken) return;
  const faults = outcomes.flatMap(({ deliveryToken }, i) => {
    const path = `${list}[${i}].deliveryToken`;
    return deliveryToken ? [] : [{ path, message: `${path} is required in this space` }];
  });
  if (faults.length > 0) throw invalidRequest(faults);
}

/**
 * Endpoints with which workers start, report on and end the attempt of a job. A full Redis refuses the data of a heartbeat
 * with STORAGE_FULL; the execution window still opens again.
 */
export const ATTEMPTS: readonly Route[] = [
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
  route({
    operation: 'reportProgress',
    method: 'POST',
    path: '/api/v1/jobs/:jobId/progress',
    scopes: ['jobs:progress'],
    tag: 'Work',
    summary: 'Report progress',
    description: 'Opens the execution window again.',
    input: json(progressRequest, {
      examples: { 'With stages': PROGRESS, 'Without stages': { percent: 99.5, message: 'Nearly done' } },
      sizes: eventSize(null),
    }),
    header: 'x-delivery-token',
    slot: 'urgent',
    success: DONE,
    trigger: 'progress',
    refusals: ['DELIVERY_LOST', 'STORAGE_FULL'],
    handler: ofWorker((store, worker, id, data) => heartbeatJob(store, worker, id, { kind: 'progress', data })),
  }),
  route({
    operation: 'checkpointJob',
    method: 'POST',
    path: '/api/v1/jobs/:jobId/checkpoint',
    scopes: ['jobs:event'],
    tag: 'Work',
    summary: 'Store a checkpoint',
    description:
      'Any JSON value. The worker of the next attempt gets it with the job. Opens the execution window again. An absent body is null.',
    input: json(dataRequest, {
      examples: { 'How far the work is': { row: 4_200 } },
      sizes: eventSize(null),
      absent: null,
    }),
    header: 'x-delivery-token',
    slot: 'urgent',
    success: DONE,
    trigger: 'checkpoint',
    refusals: ['DELIVERY_LOST', 'STORAGE_FULL'],
    handler: ofWorker((store, worker, id, data) => heartbeatJob(store, worker, id, { kind: 'checkpoint', data })),
  }),
  route({
    operation: 'recordEvent',
    method: 'POST',
    path: '/api/v1/jobs/:jobId/event',
    scopes: ['jobs:event'],
    tag: 'Work',
    summary: 'Record an event',
    description:
      'Any JSON value, for the history and the streams. Opens the execution window again. An absent body is null.',
    input: withQuery(
      query(eventOptions),
      json(dataRequest, {
        examples: { 'An object': { cache: 'miss' }, 'A string': 'decoded' },
        sizes: eventSize(null),
        absent: null,
      }),
    ),
    header: 'x-delivery-token',
    slot: 'urgent',
    success: DONE,
    trigger: 'event',
    refusals: ['DELIVERY_LOST', 'STORAGE_FULL'],
    handler: ofWorker((store, worker, id, { query, body: data }) =>
      heartbeatJob(store, worker, id, { kind: query.ephemeral ? 'ephemeral' : 'event', data }),
    ),
  }),
  route({
    operation: 'keepJobAlive',
    method: 'POST',
    path: '/api/v1/jobs/:jobId/keepalive',
    scopes: ['jobs:keepalive'],
    tag: 'Work',
    summary: 'Keep a job alive',
    description: 'Opens the execution window again, without an event in the history. A body is not read.',
    header: 'x-delivery-token',
    slot: 'urgent',
    success: DONE,
    trigger: 'keepalive',
    refusals: ['DELIVERY_LOST'],
    handler: ofWorker((store, worker, id) => heartbeatJob(store, worker, id, { kind: 'keepalive' })),
  }),
];
