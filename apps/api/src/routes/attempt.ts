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
 * Return the handler of a worker's call on its job. Its row has the header `x-delivery-token`, without which a space with
 * the setting `requireDeliveryToken` refuses the call.
 */
export const ofWorker =
  <B>(run: (store: Store, worker: Worker, jobId: string, input: B) => Promise<void>) =>
  async (call: Call<B>): Promise<{ success: true }> => {
    const { store, caller, id, input, header } = call;
    if (mayLackToken(call)) await requireToken(call);
    await run(store, { spaceId: caller.spaceId, deliveryToken: header }, id, input);
    return { success: true };
  };

/** Return whether a call lacks a token that its space may require. Costs no call to Redis. */
const mayLackToken = ({ store, header, id }: Call) =>
  header === null && store.known.spaces.isOnIn(partitionOfJob(id), 'requireDeliveryToken') && isJobId(id);

/**
 * Refuse a call without a token on a job whose space requires one. Callers that aren't allowed to touch the job learn
 * nothing here: the call itself refuses them.
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
 * Endpoints for workers to start, report on and end an attempt. If Redis is full, a heartbeat's data is refused with
 * STORAGE_FULL, but the execution window still restarts.
 */
export const ATTEMPTS: readonly Route[] = [
  route({
    operation: 'ackJob',
    method: 'POST',
    path: '/api/v1/jobs/:jobId/ack',
    scopes: ['jobs:ack'],
    tag: 'Work',
    summary: 'Acknowledge a job',
    description: 'Starts an attempt and its execution window. Takes no body.',
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
    description: 'Ends the job with a result and triggers its callback. The body is optional.',
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
    summary: 'Fail an attempt',
    description:
      'If retries remain, the job returns to the end of the queue, or is scheduled if `retry` or `retryAfterSeconds` sets a delay. Otherwise the job is dead, and its callback is sent.',
    input: json(failRequest, {
      examples: {
        'With a message': { error: 'cat.png is not an image' },
        'With an object': { error: { message: 'cat.png is not an image', code: 'EBADIMAGE' } },
        'Without a retry': { error: 'cat.png is not an image', retryable: false },
        'Retry after a minute': { error: 'image storage is busy', retryAfterSeconds: 60 },
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
      'Returns a claimed job to the queue without using up an attempt, for example when the worker shuts down. The job goes back to its original place in the queue, or is scheduled if you set `delaySeconds`. The body is optional.',
    input: json(releaseRequest, {
      examples: {
        'With a reason': { reason: 'worker is shutting down' },
        'Without a reason': {},
        'With a delay': { reason: 'receiver is busy', delaySeconds: 30 },
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
    description: 'Counts as a heartbeat, which restarts the execution window.',
    input: json(progressRequest, {
      examples: { 'With stages': PROGRESS, 'Without stages': { percent: 99.5, message: 'Almost done' } },
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
      'Stores any JSON value, which the worker of the next attempt receives with the job. Counts as a heartbeat, which restarts the execution window. An absent body is stored as null.',
    input: json(dataRequest, {
      examples: { 'A position': { row: 4_200 } },
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
      'Adds any JSON value to the history and the streams. Counts as a heartbeat, which restarts the execution window. An absent body is recorded as null.',
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
    description: 'Restarts the execution window without adding an event to the history. Takes no body.',
    header: 'x-delivery-token',
    slot: 'urgent',
    success: DONE,
    trigger: 'keepalive',
    refusals: ['DELIVERY_LOST'],
    handler: ofWorker((store, worker, id) => heartbeatJob(store, worker, id, { kind: 'keepalive' })),
  }),
];
