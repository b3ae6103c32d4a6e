import { dataRequest, doneResponse, progressRequest } from '@yardmaster/protocol';
import { heartbeatJob } from '@yardmaster/store';
import { PROGRESS } from './examples.js';
import { DONE, done, eventSize, type Route, route } from './route.js';

/**
 * Endpoints with which workers report that they still work on a job. A full Redis refuses the data of a heartbeat with
 * STORAGE_FULL; the execution window opens again all the same.
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
    trigger: 'progress',
    refusals: ['STORAGE_FULL'],
    examples: {
      request: { 'With stages': PROGRESS, 'Without stages': { percent: 99.5, message: 'Nearly done' } },
      response: DONE,
    },
    handler: ({ store, caller, jobId, input }) =>
      done(heartbeatJob(store, caller, jobId, { kind: 'progress', data: input })),
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
    trigger: 'checkpoint',
    refusals: ['STORAGE_FULL'],
    examples: { request: { 'How far the work is': { row: 4_200 } }, response: DONE },
    handler: ({ store, caller, jobId, input }) =>
      done(heartbeatJob(store, caller, jobId, { kind: 'checkpoint', data: input })),
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
    sizeRules: eventSize(null),
    response: doneResponse,
    trigger: 'event',
    refusals: ['STORAGE_FULL'],
    examples: { request: { 'An object': { cache: 'miss' }, 'A string': 'decoded' }, response: DONE },
    handler: ({ store, caller, jobId, input }) =>
      done(heartbeatJob(store, caller, jobId, { kind: 'event', data: input })),
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
    trigger: 'keepalive',
    examples: { response: DONE },
    handler: ({ store, caller, jobId }) => done(heartbeatJob(store, caller, jobId, { kind: 'keepalive' })),
  }),
];
