import {
  completeRequest,
  createJobRequest,
  createKeyRequest,
  dataRequest,
  failRequest,
  killRequest,
  listJobsQuery,
  pollRequest,
  progressRequest,
  type Scope,
} from '@yardmaster/protocol';
import {
  ackJob,
  claimJob,
  completeJob,
  createJob,
  createKey,
  failJob,
  getJob,
  getProgress,
  heartbeatJob,
  type KeyRing,
  killJob,
  listJobs,
  listKeys,
  type Principal,
  pollJobs,
  type Store,
} from '@yardmaster/store';
import type { z } from 'zod';
import type { SizeLimits } from './sizes.js';

/** A part of a body that has a size limit of its own; `path` null is the whole body. */
interface Measured {
  path: string | null;
  limit: keyof SizeLimits;
}

/** One request, checked: key, scope, path, and body or query are what they must be. */
interface Call<B> {
  store: Store;
  keyRing: KeyRing;
  caller: Principal;
  /** Space in the path; '' where the path has none. */
  spaceId: string;
  /** Job in the path; '' where the path has none. */
  jobId: string;
  /** API key in the path; '' where the path has none. */
  keyId: string;
  /** Output of the row's schema. */
  input: B;
}

interface Row<S extends z.ZodType> {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  /** Any one of them will do. There is no row without: a scope cannot be forgotten. */
  scopes: readonly [Scope, ...Scope[]];
  /** Schema of the JSON body. Without it a body is not read. */
  body?: S;
  /** What an absent body stands for. Default `{}`, whose missing fields the schema then names. */
  absentBody?: null;
  /** Schema of the query. */
  query?: S;
  measured?: readonly Measured[];
  /** Status of a success. Default 200. */
  created?: true;
  /** @returns the body of the answer */
  run(call: Call<z.output<S>>): Promise<unknown>;
}

export type Route = Row<z.ZodType>;

/** Ties a row's `run` to its schema; the table then holds rows of all kinds. */
const route = <S extends z.ZodType>(row: Row<S>): Route => row as unknown as Route;

const SUCCESS = { success: true };
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
    run: async ({ store, caller, jobId }) => {
      await ackJob(store, caller, jobId);
      return SUCCESS;
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/jobs/:jobId/progress',
    scopes: ['jobs:progress'],
    body: progressRequest,
    measured: event(null),
    run: async ({ store, caller, jobId, input }) => {
      await heartbeatJob(store, caller, jobId, { kind: 'progress', data: input });
      return SUCCESS;
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/jobs/:jobId/keepalive',
    scopes: ['jobs:keepalive'],
    run: async ({ store, caller, jobId }) => {
      await heartbeatJob(store, caller, jobId, { kind: 'keepalive' });
      return SUCCESS;
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/jobs/:jobId/checkpoint',
    scopes: ['jobs:event'],
    body: dataRequest,
    absentBody: null,
    measured: event(null),
    run: async ({ store, caller, jobId, input }) => {
      await heartbeatJob(store, caller, jobId, { kind: 'checkpoint', data: input });
      return SUCCESS;
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/jobs/:jobId/event',
    scopes: ['jobs:event'],
    body: dataRequest,
    absentBody: null,
    measured: event(null),
    run: async ({ store, caller, jobId, input }) => {
      await heartbeatJob(store, caller, jobId, { kind: 'event', data: input });
      return SUCCESS;
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/jobs/:jobId/complete',
    scopes: ['jobs:complete'],
    body: completeRequest,
    measured: payload('result'),
    run: async ({ store, caller, jobId, input }) => {
      await completeJob(store, caller, jobId, input.result);
      return SUCCESS;
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/jobs/:jobId/fail',
    scopes: ['jobs:fail'],
    body: failRequest,
    measured: event('error'),
    run: async ({ store, caller, jobId, input }) => {
      await failJob(store, caller, jobId, input.error);
      return SUCCESS;
    },
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
    run: async ({ store, caller, jobId, input }) => {
      await killJob(store, caller, jobId, input.reason);
      return SUCCESS;
    },
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
    path: '/api/v1/spaces/:spaceId/jobs',
    scopes: ['jobs:read'],
    query: listJobsQuery,
    run: ({ store, spaceId, input }) => listJobs(store, spaceId, input),
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
    run: async ({ keyRing, keyId }) => {
      await keyRing.revoke(keyId);
      return SUCCESS;
    },
  }),
];
