import { basename } from 'node:path';
import { expect } from '@jest/globals';
import type { Scope, Status } from '@yardmaster/protocol';
import type { CallOptions, HttpResponse } from '../support/http.js';
import { jobIn } from '../support/jobs.js';
import type { TestService } from '../support/service.js';

export interface Endpoint {
  /** Name in messages of tests. */
  name: string;
  method: string;
  /** Path below /api/v1, with `:parameters`. */
  path: string;
  /** Any one of them is enough. None: any valid key. */
  scopes: readonly Scope[];
  /** Scopes that are needed in addition. */
  also?: readonly Scope[];
  /** Status in which a job accepts this call. Default pending. */
  on?: Status;
  /** A body that it accepts. */
  body?: unknown;
  /** Status of a success. Default 200. */
  success?: number;
}

/** Name of the keys that Create Key makes. It contains the test file, because several files may use one service at once. */
export const MADE = `made by ${basename(expect.getState().testPath ?? '')}`;

const HALF = { percent: 50, message: 'half' };

/** The scopes of the outcomes that a worker can settle, and an outcome that any of these calls accepts. */
const OUTCOME_SCOPES: Scope[] = [
  ...(['jobs:ack', 'jobs:keepalive', 'jobs:progress', 'jobs:event', 'jobs:complete', 'jobs:fail'] as const),
];
const ACK = { jobId: 'nope', action: 'ack' };

/** It changes no job of another test: schedulers carry it out at some time. */
const OPERATION = { action: 'requeue', filter: { status: 'dead', names: ['none'] } };

/** It is never due while a test runs. */
const SCHEDULE = { cron: '0 0 29 2 *', job: { name: 'work' } };
/** Changing schedules needs this scope as well, because they create jobs. */
const CREATES: Scope[] = ['jobs:create'];

const TOKEN = { scope: 'jobs:read:progress', tag: 'none' };

type Row = [name: string, call: string, scopes: Scope[], rest?: Pick<Endpoint, 'also' | 'on' | 'body' | 'success'>];

/** Every endpoint. The list is repeated here on purpose, because a test must not compare the product's table with itself. */
const ROWS: Row[] = [
  ['Create Job', 'POST /spaces/:spaceId/jobs', ['jobs:create'], { body: { name: 'work' }, success: 201 }],
  ['List Jobs', 'GET /spaces/:spaceId/jobs', ['jobs:read']],
  ['Get Space Statistics', 'GET /spaces/:spaceId/stats', ['jobs:read']],
  ['List Spaces', 'GET /spaces', ['jobs:read']],
  ['Get Space History', 'GET /spaces/:spaceId/stats/history', ['jobs:read']],
  ['Poll for Jobs', 'POST /spaces/:spaceId/jobs/poll', ['jobs:poll'], { body: { count: 1 } }],
  ['Settle Jobs', 'POST /spaces/:spaceId/jobs/settle', OUTCOME_SCOPES, { body: { outcomes: [ACK] } }],
  ['Claim Specific Job', 'POST /jobs/:jobId/claim', ['jobs:poll']],
  ['Get Job', 'GET /jobs/:jobId', ['jobs:read']],
  ['Get Job Progress', 'GET /jobs/:jobId/progress', ['jobs:read:progress', 'jobs:read']],
  ['Get Job Logs', 'GET /jobs/:jobId/logs', ['jobs:read']],
  ['Acknowledge Job', 'POST /jobs/:jobId/ack', ['jobs:ack'], { on: 'delivered' }],
  ['Report Progress', 'POST /jobs/:jobId/progress', ['jobs:progress'], { on: 'running', body: HALF }],
  ['Checkpoint', 'POST /jobs/:jobId/checkpoint', ['jobs:event'], { on: 'running', body: { row: 1 } }],
  ['Custom Event', 'POST /jobs/:jobId/event', ['jobs:event'], { on: 'running', body: 'seen' }],
  ['Append Logs', 'POST /jobs/:jobId/logs', ['jobs:event'], { body: ['a line'] }],
  ['Complete Job', 'POST /jobs/:jobId/complete', ['jobs:complete'], { on: 'running', body: { result: 1 } }],
  ['Fail Job', 'POST /jobs/:jobId/fail', ['jobs:fail'], { on: 'running', body: { error: 'no' } }],
  ['Release Job', 'POST /jobs/:jobId/release', ['jobs:fail'], { on: 'running', body: { reason: 'stop' } }],
  ['Kill Job', 'POST /jobs/:jobId/kill', ['jobs:kill'], { body: { reason: 'stop' } }],
  ['Reschedule Job', 'POST /jobs/:jobId/reschedule', ['jobs:create'], { body: { delaySeconds: 60 } }],
  ['Requeue Job', 'POST /jobs/:jobId/requeue', ['jobs:manage'], { on: 'dead', body: { delaySeconds: 60 } }],
  ['Copy Job', 'POST /jobs/:jobId/copy', ['jobs:create'], { also: ['jobs:read'], body: { payload: {} }, success: 201 }],
  ['Delete Job', 'DELETE /jobs/:jobId', ['jobs:manage'], { on: 'completed' }],
  ['Start Operation', 'POST /spaces/:spaceId/operations', ['jobs:manage'], { body: OPERATION, success: 202 }],
  ['List Operations', 'GET /spaces/:spaceId/operations', ['jobs:manage', 'jobs:read']],
  ['Get Operation', 'GET /operations/:operationId', ['jobs:manage', 'jobs:read']],
  ['Cancel Operation', 'DELETE /operations/:operationId', ['jobs:manage']],
  ['Keepalive', 'POST /jobs/:jobId/keepalive', ['jobs:keepalive'], { on: 'running' }],
  ['Redeliver Callback', 'POST /jobs/:jobId/callback/redeliver', ['jobs:create'], { on: 'completed' }],
  ['Create Stream Token', 'POST /stream-tokens', ['jobs:read:progress', 'jobs:read'], { body: TOKEN, success: 201 }],
  ['Get Callback Secrets', 'GET /spaces/:spaceId/callback-secret', ['keys:manage']],
  [
    'Put Schedule',
    'PUT /spaces/:spaceId/schedules/:scheduleId',
    ['schedules:manage'],
    { also: CREATES, body: SCHEDULE, success: 201 },
  ],
  [
    'Put Schedules',
    'PUT /spaces/:spaceId/schedules',
    ['schedules:manage'],
    { also: CREATES, body: { owner: 'me', schedules: [{ id: 'declared', ...SCHEDULE }] } },
  ],
  ['List Schedules', 'GET /spaces/:spaceId/schedules', ['jobs:read']],
  ['Get Schedule', 'GET /spaces/:spaceId/schedules/:scheduleId', ['jobs:read']],
  [
    'Pause Schedule',
    'PATCH /spaces/:spaceId/schedules/:scheduleId',
    ['schedules:manage'],
    { also: CREATES, body: { paused: true } },
  ],
  ['Delete Schedule', 'DELETE /spaces/:spaceId/schedules/:scheduleId', ['schedules:manage'], { also: CREATES }],
  [
    'Run Schedule',
    'POST /spaces/:spaceId/schedules/:scheduleId/run',
    ['schedules:manage'],
    { also: CREATES, body: { payload: { n: 1 } }, success: 201 },
  ],
  ['Get Space Settings', 'GET /spaces/:spaceId/settings', ['spaces:manage']],
  ['Change Space Settings', 'PATCH /spaces/:spaceId/settings', ['spaces:manage'], { body: { maxPending: null } }],
  ['Pause Space', 'POST /spaces/:spaceId/pause', ['spaces:manage'], { body: { names: ['paused'] } }],
  ['Resume Space', 'POST /spaces/:spaceId/resume', ['spaces:manage'], { body: { names: ['paused'] } }],
  ['Create Key', 'POST /keys', ['keys:manage'], { body: { name: MADE, scopes: ['jobs:read'] }, success: 201 }],
  ['List Keys', 'GET /keys', ['keys:manage']],
  ['Get Own Key', 'GET /keys/self', []],
  ['Rotate Key', 'POST /keys/:keyId/rotate', ['keys:manage'], { body: { overlapSeconds: 60 } }],
  ['Revoke Key', 'DELETE /keys/:keyId', ['keys:manage']],
  ['List Audit Entries', 'GET /audit', ['keys:manage']],
];

export const ENDPOINTS: readonly Endpoint[] = ROWS.map(([name, call, scopes, rest]) => {
  const [method, path] = call.split(' ') as [string, string];
  return { name, method, path, scopes, ...rest };
});

export const endpointOf = (name: string) => ENDPOINTS.find((endpoint) => endpoint.name === name) as Endpoint;

/** Return the call about a job whose path ends with this word: `ack`, `release` and so on. */
export const callOf = (verb: string) =>
  ENDPOINTS.find(({ method, path }) => method === 'POST' && path === `/jobs/:jobId/${verb}`);

/** Values for the parameters of a path. */
export interface Target {
  spaceId: string;
  jobId: string;
  keyId: string;
  operationId: string;
  scheduleId: string;
}

/** A target that no endpoint finds. */
export const UNKNOWN: Target = {
  spaceId: 'unknown',
  jobId: '00aaaaaaaaaaaaaaaaaaaaaaaaaa',
  keyId: 'aaaa',
  operationId: '00aaaaaaaaaaaaaaaaaaaaaaaaaa',
  scheduleId: 'unknown',
};

/** URL for the callbacks of jobs: port 9 discards, if a server listens there at all. */
const NOWHERE = 'http://127.0.0.1:9/';

let schedules = 0;

/** Create the job, the key, the operation or the schedule that an endpoint needs to succeed. */
export async function targetFor(
  service: TestService,
  { method, path, on }: Endpoint,
  spaceId: string,
): Promise<Target> {
  const jobId = path.includes(':jobId') ? await jobIn(service, on ?? 'pending', spaceId, { callbackUrl: NOWHERE }) : '';
  const operationId = path.includes(':operationId')
    ? (await service.call('POST', `/spaces/${spaceId}/operations`, { body: OPERATION })).body.id
    : '';
  const scheduleId = path.includes(':scheduleId') ? `schedule-${++schedules}` : '';
  if (scheduleId !== '' && method !== 'PUT')
    await service.call('PUT', `/spaces/${spaceId}/schedules/${scheduleId}`, { body: SCHEDULE });
  return {
    spaceId,
    scheduleId,
    jobId,
    keyId: path.includes(':keyId') ? (await service.key(['jobs:read'], { spaceId })).id : '',
    operationId,
  };
}

/** Return the path of an endpoint for a target, below /api/v1. */
export const pathOf = ({ path }: Pick<Endpoint, 'path'>, target: Target) =>
  path.replace(/:(\w+)/g, (_, name) => target[name as keyof Target]);

/** Call an endpoint with its body, unless the options have another. */
export function callEndpoint(
  service: Pick<TestService, 'call'>,
  endpoint: Endpoint,
  target: Target,
  options: CallOptions = {},
): Promise<HttpResponse> {
  return service.call(endpoint.method, pathOf(endpoint, target), { body: endpoint.body, ...options });
}

/**
 * Return options with which a call of an endpoint needs Redis. Where only the key may need Redis, it is a key that no
 * process has cached.
 */
export const askingRedis = ({ name }: Endpoint): CallOptions =>
  ['Get Callback Secrets', 'Settle Jobs', 'Get Own Key', 'Create Stream Token'].includes(name)
    ? { key: `ym_${'a'.repeat(16)}_${'f'.repeat(64)}` }
    : {};

/** Read the keys of all pages, because other tests make keys as well. */
async function allKeys(service: TestService): Promise<{ id: string; name: string; lastUsedAt?: string }[]> {
  const keys = [];
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const { body, headers } = await service.call('GET', `/keys?limit=100${cursor && `&cursor=${cursor}`}`);
    keys.push(...body);
    cursor = headers['x-next-cursor'] as string | undefined;
  }
  return keys;
}

/** Return everything that a refused call could have changed, without the changes of other tests on a shared service. */
export async function stateOf(service: TestService, { spaceId, jobId, keyId }: Target): Promise<unknown[]> {
  const read = async (path: string) => (await service.call('GET', path)).body;
  const jobs = await read(`/spaces/${spaceId}/jobs?limit=100`);
  const isOurs = (key: { id: string; name: string }) => key.name === MADE || key.id === keyId;
  const withoutUse = ({ lastUsedAt: _, ...key }: { lastUsedAt?: string }) => key; // It is written a little later.
  const keys = (await allKeys(service)).filter(isOurs).map(withoutUse);
  const operations = (await read(`/spaces/${spaceId}/operations`)).operations.map(
    ({ id, status }: { id: string; status: string }) => [id, status === 'cancelled'],
  );
  if (jobId === '') return [jobs, keys, operations];
  const { events, ...job } = await read(`/jobs/${jobId}`);
  const byCalls = events.filter(({ type }: { type: string }) => !type.startsWith('callback_'));
  return [jobs, keys, operations, { ...job, events: byCalls, updatedAt: null }, await read(`/jobs/${jobId}/logs`)];
}
