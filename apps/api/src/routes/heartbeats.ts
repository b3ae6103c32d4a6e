import { dataRequest, eventOptions, progressRequest } from '@yardmaster/protocol';
import { heartbeatJob } from '@yardmaster/store';
import { eventSize, json, query, withQuery } from '../input/input.js';
import { PROGRESS } from './examples.js';
import { DONE, type Route, route } from './route.js';
import { ofWorker } from './worker.js';

/**
 * Endpoints with which workers report that they still work on a job. A full Redis refuses the data of a heartbeat with
 * STORAGE_FULL; the execution window still opens again.
 */
export const HEARTBEATS: readonly Route[] = [
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
