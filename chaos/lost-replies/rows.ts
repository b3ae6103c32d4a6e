import { ROUTES } from '@yardmaster/api';
import { type Status, TRANSITIONS } from '@yardmaster/protocol';
import { type Body, HEARTBEATS, type Operation } from '../checker/history.js';
import type { Step } from '../load/own-jobs.js';
import type { Start, Subject, TrialKey } from './subject.js';
import type { ApiRequest } from './trial.js';

const RUNNING = { before: [['claim'], ['ack']] } as const;
const DONE = ['complete', { result: { token: 'to be delivered again' } }] as const;
const KILLED = { before: [...RUNNING.before, ['kill', { reason: 'to be requeued or deleted' }]] } as const;
const COMPLETED = { before: [...RUNNING.before, DONE], hasCallback: true } as const;

/** A job in each status. */
const STARTS: Record<Status, Start> = {
  scheduled: { before: [['reschedule', { delaySeconds: 3_600 }]] },
  pending: { before: [] },
  delivered: { before: [['claim']] },
  running: RUNNING,
  completed: COMPLETED,
  dead: { before: [...RUNNING.before, ['fail', { error: 'to be requeued' }]], maxRetries: 0 },
  killed: KILLED,
};

type Change = [op: Operation, endpoint: string, script: string, start: Start];

/**
 * The calls that are triggers, in each status that they change, with and without a delivery token. Each runs the script with its
 * name; heartbeats share one.
 */
const OF_TRIGGERS = ROUTES.flatMap(({ operation, path, trigger, header }): Change[] => {
  if (trigger === undefined || path !== `/api/v1/jobs/:jobId/${trigger}`) return [];
  const rows = TRANSITIONS.filter((row) => row.trigger === trigger);
  const starts = [...new Set(rows.flatMap(({ from }) => from))].map((status) => STARTS[status]);
  if (rows.some(({ when }) => when === 'no retries remain'))
    starts.push(...starts.map((start) => ({ ...start, maxRetries: 0 })));
  if (header === 'x-delivery-token') starts.push(...starts.map((start) => ({ ...start, withToken: true as const })));
  const script = HEARTBEATS.some((one) => one === trigger) ? 'heartbeat' : trigger;
  return starts.map((start) => [trigger as Operation, operation, script, start]);
});

/** Every endpoint that changes jobs, with the script that it runs. */
export const CHANGES: readonly Change[] = [
  ['create', 'createJob', 'create', { before: null }],
  ['create', 'createJob', 'create', { before: null, key: 'idempotency' }],
  ['create', 'createJob', 'create', { before: null, key: 'unique' }],
  ['poll', 'pollJobs', 'poll', { before: [] }],
  ...OF_TRIGGERS,
  ['logs', 'appendLogs', 'append_logs', RUNNING],
  ['delete', 'deleteJob', 'delete_job', KILLED],
  ['copy', 'copyJob', 'copy', KILLED],
  ['redeliver', 'redeliverCallback', 'redeliver_callback', COMPLETED],
];

const LONG = 110; // A history with more events than this is read in several portions.
const MANY = Array.from({ length: LONG }, (_, i): Step => ['event', { token: `event ${i}` }]);

/** The job for reads. */
export const READ_FROM = {
  before: [...RUNNING.before, ['progress', { percent: 1, message: 'on' }], ['logs', ['one', 'two']]],
} satisfies Start;
export const LONG_READ_FROM = { before: [...READ_FROM.before, ...MANY] } as Start;
const ofJob = ({ jobId }: Subject) => `/jobs/${jobId}`;
const ofSpace = ({ spaceId }: Subject) => `/spaces/${spaceId}`;
const history = ({ status, events }: Body) => [status, events?.length];

/** Every endpoint that reads jobs, each script or command that it needs, and the expected part of its response. */
export const READS: readonly [
  endpoint: string,
  runs: string,
  path: (subject: Subject) => string,
  seen: (body: Body) => unknown,
  is: unknown,
][] = [
  ['getJob', 'get', ofJob, history, ['running', 4]],
  ['getJob', 'history', ofJob, history, ['running', 4 + LONG]],
  ['getProgress', 'hmget', (of) => `${ofJob(of)}/progress`, ({ progress }) => progress?.message, 'on'],
  ['readLogs', 'read_logs', (of) => `${ofJob(of)}/logs`, ({ logs }) => logs?.length, 2],
  ['listJobs', 'list', (of) => `${ofSpace(of)}/jobs`, (jobs) => jobs[0]?.status, 'running'],
  ['listJobs', 'find', (of) => `${ofSpace(of)}/jobs?q=n`, (jobs) => jobs[0]?.status, 'running'],
  ['listJobs', 'hmget', (of) => `${ofSpace(of)}/jobs?q=n`, (jobs) => jobs[0]?.status, 'running'],
  ['listSpaces', 'zrangebyscore', () => '/spaces?limit=100', ({ nextCursor }) => nextCursor, null],
  ['listSpaces', 'stats', () => '/spaces?limit=100', ({ nextCursor }) => nextCursor, null],
  ['getHistory', 'time', (of) => `${ofSpace(of)}/stats/history`, ({ step }) => step, 60],
  ['getHistory', 'read_history', (of) => `${ofSpace(of)}/stats/history`, ({ step }) => step, 60],
  ['getStats', 'stats', (of) => `${ofSpace(of)}/stats`, ({ jobs }) => jobs?.running, 1],
];

type KeyRequest = (key: TrialKey) => ApiRequest;
const create: KeyRequest = ({ name }) => ({ method: 'POST', path: '/keys', body: { name, scopes: ['jobs:read'] } });
const list: KeyRequest = () => ({ method: 'GET', path: '/keys' });
const audit: KeyRequest = () => ({ method: 'GET', path: '/audit' });
const rotate: KeyRequest = ({ id }) => ({ method: 'POST', path: `/keys/${id}/rotate`, body: { overlapSeconds: 60 } });
const revoke: KeyRequest = ({ id }) => ({ method: 'DELETE', path: `/keys/${id}` });

/**
 * Every endpoint of API keys, with each command that it needs. `keys` counts the keys with that name after the call and after its
 * repetition; `again` is the status of the repetition. A client does not know a key whose response was lost, so it makes another.
 */
export const KEY_CALLS: readonly [
  endpoint: string,
  runs: string,
  request: KeyRequest,
  keys: readonly [after: number, again: number],
  again: number,
][] = [
  ['createKey', 'time', create, [1, 2], 201],
  ['createKey', 'create_key', create, [2, 3], 201],
  ['listKeys', 'list_keys', list, [1, 1], 200],
  ['listAuditEntries', 'xrevrange', audit, [1, 1], 200],
  ['rotateKey', 'hget', rotate, [1, 1], 200],
  ['rotateKey', 'time', rotate, [1, 1], 200],
  ['rotateKey', 'replace_key', rotate, [1, 1], 200],
  ['revokeKey', 'hget', revoke, [1, 0], 200],
  ['revokeKey', 'revoke_key', revoke, [0, 0], 404],
  ['revokeKey', 'smembers', revoke, [0, 0], 404],
];

type SpaceRequest = (spaceId: string) => ApiRequest;
const SET = { maxPending: 5 };
const get: SpaceRequest = (spaceId) => ({ method: 'GET', path: `/spaces/${spaceId}/settings` });
const change: SpaceRequest = (spaceId) => ({ method: 'PATCH', path: `/spaces/${spaceId}/settings`, body: SET });
const pause: SpaceRequest = (spaceId) => ({ method: 'POST', path: `/spaces/${spaceId}/pause`, body: {} });
const resume: SpaceRequest = (spaceId) => ({ method: 'POST', path: `/spaces/${spaceId}/resume`, body: {} });
const NOTHING = { settings: {} };
/** Settings as stored by a call with an operator's key. */
const STORED = { settings: { ...SET, operatorLimits: ['maxPending'] } };

/**
 * Every endpoint of spaces, with each script and command that it needs. `left` is what is stored after the call, and `again` what
 * is stored after its repetition. Each call can be repeated.
 */
export const SPACE_CALLS: readonly [
  endpoint: string,
  runs: string,
  request: SpaceRequest,
  left: object,
  again: object,
][] = [
  ['getSpaceSettings', 'hget', get, NOTHING, NOTHING],
  ['getSpaceSettings', 'hgetall', get, NOTHING, NOTHING],
  ['changeSpaceSettings', 'hget', change, NOTHING, STORED],
  ['changeSpaceSettings', 'set_settings', change, STORED, STORED],
  ['changeSpaceSettings', 'hgetall', change, STORED, STORED],
  ['pauseSpace', 'pause', pause, { settings: {}, paused: true }, { settings: {}, paused: true }],
  ['resumeSpace', 'resume', resume, NOTHING, NOTHING],
];

/** Commands that a call sends only after another reply, so that both replies cannot be lost at the same time. */
export const LATER = ['history', 'create_key', 'revoke_key', 'smembers', 'set_settings', 'hgetall', 'replace_key'];
/** Calls about all spaces or the history of one, whose commands share a connection and are sequential. */
const OF_SPACES = ['listSpaces', 'getHistory', 'getStats'];
export const isLater = ({ endpoint, runs }: { endpoint: string; runs: string }) =>
  LATER.includes(runs) || OF_SPACES.includes(endpoint) || (endpoint === 'listJobs' && runs === 'hmget');

/** A command that each connection sends every second. The wrong reply to it might be lost before all trials have begun. */
export const PERIODIC = 'time';

/** Commands that read an unknown key. They are sent together, so one trial loses both replies. */
export const KEY_READ = ['hget', 'time'] as const;
