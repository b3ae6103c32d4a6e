import { dataRequest, doneResponse, eventOptions, progressRequest } from '@yardmaster/protocol';
import { heartbeatJob } from '@yardmaster/store';
import { PROGRESS } from './examples.js';
import { DONE, done, eventSize, type Route, route, workerOf } from './route.js';

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
    isUrgent: true,
    tag: 'Work',
    summary: 'Report progress',
    description: 'Opens the execution window again.',
    body: progressRequest,
    sizeRules: eventSize(null),
    response: doneResponse,
    header: 'x-delivery-token',
    trigger: 'progress',
    refusals: ['DELIVERY_LOST', 'STORAGE_FULL'],
    examples: {
      request: { 'With stages': PROGRESS, 'Without stages': { percent: 99.5, message: 'Nearly done' } },
      response: DONE,
    },
    handler: (call) =>
      done(heartbeatJob(call.store, workerOf(call), call.jobId, { kind: 'progress', data: call.input })),
  }),
  route({
    operation: 'checkpointJob',
    method: 'POST',
    path: '/api/v1/jobs/:jobId/checkpoint',
    scopes: ['jobs:event'],
    isUrgent: true,
    tag: 'Work',
    summary: 'Store a checkpoint',
    description:
      'Any JSON value. The worker of the next attempt gets it with the job. Opens the execution window again. An absent body is null.',
    body: dataRequest,
    absentBody: null,
    sizeRules: eventSize(null),
    response: doneResponse,
    header: 'x-delivery-token',
    trigger: 'checkpoint',
    refusals: ['DELIVERY_LOST', 'STORAGE_FULL'],
    examples: { request: { 'How far the work is': { row: 4_200 } }, response: DONE },
    handler: (call) =>
      done(heartbeatJob(call.store, workerOf(call), call.jobId, { kind: 'checkpoint', data: call.input })),
  }),
  route({
    operation: 'recordEvent',
    method: 'POST',
    path: '/api/v1/jobs/:jobId/event',
    scopes: ['jobs:event'],
    isUrgent: true,
    tag: 'Work',
    summary: 'Record an event',
    description:
      'Any JSON value, for the history and the streams. Opens the execution window again. An absent body is null.',
    body: dataRequest,
    absentBody: null,
    options: eventOptions,
    sizeRules: eventSize(null),
    response: doneResponse,
    header: 'x-delivery-token',
    trigger: 'event',
    refusals: ['DELIVERY_LOST', 'STORAGE_FULL'],
    examples: { request: { 'An object': { cache: 'miss' }, 'A string': 'decoded' }, response: DONE },
    handler(call) {
      const kind = call.options?.ephemeral === true ? 'ephemeral' : 'event';
      return done(heartbeatJob(call.store, workerOf(call), call.jobId, { kind, data: call.input }));
    },
  }),
  route({
    operation: 'keepJobAlive',
    method: 'POST',
    path: '/api/v1/jobs/:jobId/keepalive',
    scopes: ['jobs:keepalive'],
    isUrgent: true,
    tag: 'Work',
    summary: 'Keep a job alive',
    description: 'Opens the execution window again, without an event in the history. A body is not read.',
    response: doneResponse,
    header: 'x-delivery-token',
    trigger: 'keepalive',
    refusals: ['DELIVERY_LOST'],
    examples: { response: DONE },
    handler: (call) => done(heartbeatJob(call.store, workerOf(call), call.jobId, { kind: 'keepalive' })),
  }),
];
