import {
  completeRequest,
  createJobRequest,
  createKeyRequest,
  dataRequest,
  failRequest,
  killRequest,
  listJobsQuery,
  logsQuery,
  pollRequest,
  progressRequest,
  statsQuery,
} from '@yardmaster/protocol';
import {
  ackJob,
  appendLogs,
  claimJob,
  completeJob,
  createJob,
  createKey,
  failJob,
  getJob,
  getProgress,
  getStats,
  heartbeatJob,
  killJob,
  listJobs,
  listKeys,
  pollJobs,
  readLogs,
  redeliverCallback,
} from '@yardmaster/store';
import { readLogBatch } from './logs/batch.js';
import { type Measured, type Route, route } from './route.js';

/** Answer of the endpoints that have nothing to tell but that it is done. */
const done = (work: Promise<void>) => work.then(success);
const success = () => ({ success: true });
const event = (path: string | null): readonly Measured[] => [{ path, limit: 'eventBytes' }];
const payload = (path: string): readonly Measured[] => [{ path, limit: 'payloadBytes' }];

/** Every endpoint: method, path, scope, input, verb (spec §4; keys: contract §5). The hot ones stand first. */
export const ROUTES: readonly Route[] = [
  route({
    method: 'POST',
    path: '/api/v1/spaces/:spaceId/jobs/poll',
    scopes: ['jobs:poll'],
    body: pollRequest,
    run: async ({ store, spaceId, input }) => ({ jobs: await pollJobs(store, spaceId, input) }),
  }),
  route({
    method: 'POST',
    path: '/api/v1/spaces/:spaceId/jobs',
    scopes: ['jobs:create'],
    body: createJobRequest,
    measured: payload('payload'),
    created: true,
    run: ({ store, spaceId, input }) => createJob(store, spaceId, input),
  }),
  route({
    method: 'POST',
    path: '/api/v1/jobs/:jobId/ack',
    scopes: ['jobs:ack'],
    run: ({ store, caller, jobId }) => done(ackJob(store, caller, jobId)),
  }),
  route({
    method: 'POST',
    path: '/api/v1/jobs/:jobId/progress',
    scopes: ['jobs:progress'],
    body: progressRequest,
    measured: event(null),
    run: ({ store, caller, jobId, input }) =>
      done(heartbeatJob(store, caller, jobId, { kind: 'progress', data: input })),
  }),
  route({
    method: 'POST',
    path: '/api/v1/jobs/:jobId/keepalive',
    scopes: ['jobs:keepalive'],
    run: ({ store, caller, jobId }) => done(heartbeatJob(store, caller, jobId, { kind: 'keepalive' })),
  }),
  route({
    method: 'POST',
    path: '/api/v1/jobs/:jobId/checkpoint',
    scopes: ['jobs:event'],
    body: dataRequest,
    absentBody: null,
    measured: event(null),
    run: ({ store, caller, jobId, input }) =>
      done(heartbeatJob(store, caller, jobId, { kind: 'checkpoint', data: input })),
  }),
  route({
    method: 'POST',
    path: '/api/v1/jobs/:jobId/event',
    scopes: ['jobs:event'],
    body: dataRequest,
    absentBody: null,
    measured: event(null),
    run: ({ store, caller, jobId, input }) => done(heartbeatJob(store, caller, jobId, { kind: 'event', data: input })),
  }),
  route({
    method: 'POST',
    path: '/api/v1/jobs/:jobId/logs',
    scopes: ['jobs:event'],
    read: readLogBatch,
    run: ({ store, caller, jobId, input }) => appendLogs(store, caller, jobId, input),
  }),
  route({
    method: 'POST',
    path: '/api/v1/jobs/:jobId/complete',
    scopes: ['jobs:complete'],
    body: completeRequest,
    measured: payload('result'),
    run: ({ store, caller, jobId, input }) => done(completeJob(store, caller, jobId, input.result)),
  }),
  route({
    method: 'POST',
    path: '/api/v1/jobs/:jobId/fail',
    scopes: ['jobs:fail'],
    body: failRequest,
    measured: event('error'),
    run: ({ store, caller, jobId, input }) => done(failJob(store, caller, jobId, input.error)),
  }),
  route({
    method: 'POST',
    path: '/api/v1/jobs/:jobId/claim',
    scopes: ['jobs:poll'],
    run: ({ store, caller, jobId }) => claimJob(store, caller, jobId),
  }),
  route({
    method: 'POST',
    path: '/api/v1/jobs/:jobId/kill',
    scopes: ['jobs:kill'],
    body: killRequest,
    measured: event('reason'),
    run: ({ store, caller, jobId, input }) => done(killJob(store, caller, jobId, input.reason)),
  }),
  route({
    method: 'POST',
    path: '/api/v1/jobs/:jobId/callback/redeliver',
    scopes: ['jobs:create'],
    run: ({ store, caller, jobId }) => done(redeliverCallback(store, caller, jobId)),
  }),
  route({
    method: 'GET',
    path: '/api/v1/jobs/:jobId',
    scopes: ['jobs:read'],
    run: ({ store, caller, jobId }) => getJob(store, caller, jobId),
  }),
  route({
    method: 'GET',
    path: '/api/v1/jobs/:jobId/progress',
    scopes: ['jobs:read:progress', 'jobs:read'],
    run: ({ store, caller, jobId }) => getProgress(store, caller, jobId),
  }),
  route({
    method: 'GET',
    path: '/api/v1/jobs/:jobId/logs',
    scopes: ['jobs:read'],
    query: logsQuery,
    run: ({ store, caller, jobId, input }) => readLogs(store, caller, jobId, input),
  }),
  route({
    method: 'GET',
    path: '/api/v1/spaces/:spaceId/jobs',
    scopes: ['jobs:read'],
    query: listJobsQuery,
    run: ({ store, spaceId, input }) => listJobs(store, spaceId, input),
  }),
  route({
    method: 'GET',
    path: '/api/v1/spaces/:spaceId/stats',
    scopes: ['jobs:read'],
    query: statsQuery,
    run: ({ store, spaceId, input }) => getStats(store, spaceId, input),
  }),
  route({
    method: 'POST',
    path: '/api/v1/keys',
    scopes: ['keys:manage'],
    body: createKeyRequest,
    created: true,
    run: ({ store, input }) => createKey(store, input),
  }),
  route({
    method: 'GET',
    path: '/api/v1/keys',
    scopes: ['keys:manage'],
    run: ({ store }) => listKeys(store),
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/keys/:keyId',
    scopes: ['keys:manage'],
    run: ({ keyRing, keyId }) => done(keyRing.revoke(keyId)),
  }),
];
