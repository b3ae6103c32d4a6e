import type { Operation } from '../history.js';
import { beginChange } from './change-trial.js';
import type { LostReply } from './lost-reply.js';
import type { Start } from './subject.js';

/** A call that changes something: what is so once its answer is lost, and what the same call says then. */
export interface Change extends Start {
  /** What the row is called, where the operation alone does not tell. */
  case?: string;
  op: Operation;
  endpoint: string;
  script: string;
  sent?(token: string): unknown;
  /** Status of the job afterwards, and how many events of each of these types it has: once, and not twice. */
  leaves: { status: string; events: Partial<Record<string, number>>; logs?: number };
  /** What the same call is answered, with a text of its own where it has one. */
  again: { status: number; body: Record<string, unknown> };
}

const SUCCESS = { status: 200, body: { success: true } };
const notRunning = (jobStatus: string) => ({ status: 409, body: { code: 'JOB_NOT_RUNNING', jobStatus } });
const DELIVERED: NonNullable<Start['before']> = [['claim']];
const RUNNING: NonNullable<Start['before']> = [['claim'], ['ack']];
const progress = (message: string) => ({ percent: 10, message });
const withToken = (token: string) => ({ token });

/** Every endpoint by which jobs change, with the script that it runs (spec §4). */
export const CHANGES: readonly Change[] = [
  {
    op: 'create',
    endpoint: 'createJob',
    script: 'create',
    before: null,
    leaves: { status: 'pending', events: { created: 1 } },
    again: { status: 201, body: { status: 'pending', attemptNumber: 0 } }, // Another job: a create is not idempotent.
  },
  {
    op: 'poll',
    endpoint: 'pollJobs',
    script: 'poll',
    before: [],
    sent: () => ({ count: 5 }),
    leaves: { status: 'delivered', events: { delivered: 1 } },
    again: { status: 200, body: { jobs: [] } }, // It comes back once its delivery window is over.
  },
  {
    op: 'claim',
    endpoint: 'claimJob',
    script: 'claim',
    before: [],
    leaves: { status: 'delivered', events: { delivered: 1 } },
    again: { status: 200, body: { claimed: false, reason: 'not_pending', status: 'delivered' } },
  },
  {
    op: 'ack',
    endpoint: 'ackJob',
    script: 'ack',
    before: DELIVERED,
    leaves: { status: 'running', events: { acked: 1 } },
    again: { status: 409, body: { code: 'JOB_NOT_DELIVERED', jobStatus: 'running' } },
  },
  {
    op: 'progress',
    endpoint: 'reportProgress',
    script: 'heartbeat',
    before: RUNNING,
    sent: progress,
    leaves: { status: 'running', events: { progress: 1 } },
    again: SUCCESS,
  },
  {
    op: 'checkpoint',
    endpoint: 'checkpointJob',
    script: 'heartbeat',
    before: RUNNING,
    sent: withToken,
    leaves: { status: 'running', events: { checkpoint: 1 } },
    again: SUCCESS,
  },
  {
    op: 'event',
    endpoint: 'recordEvent',
    script: 'heartbeat',
    before: RUNNING,
    sent: withToken,
    leaves: { status: 'running', events: { event: 1 } },
    again: SUCCESS,
  },
  {
    op: 'keepalive',
    endpoint: 'keepJobAlive',
    script: 'heartbeat',
    before: RUNNING,
    leaves: { status: 'running', events: {} },
    again: SUCCESS,
  },
  {
    op: 'logs',
    endpoint: 'appendLogs',
    script: 'append_logs',
    before: RUNNING,
    sent: (token) => [`${token} 1/2`, `${token} 2/2`],
    leaves: { status: 'running', events: {}, logs: 2 },
    again: { status: 200, body: { success: true, inserted: 2, fromSeq: 3, toSeq: 4 } },
  },
  {
    op: 'complete',
    endpoint: 'completeJob',
    script: 'complete',
    before: RUNNING,
    sent: (token) => ({ result: { token } }),
    leaves: { status: 'completed', events: { completed: 1 } },
    again: notRunning('completed'),
  },
  {
    op: 'fail',
    endpoint: 'failJob',
    case: 'fail with retries left',
    script: 'fail',
    fields: { maxRetries: 1 },
    before: RUNNING,
    sent: (token) => ({ error: token }),
    leaves: { status: 'pending', events: { retried: 1 } },
    again: notRunning('pending'),
  },
  {
    op: 'fail',
    endpoint: 'failJob',
    case: 'fail for the last time',
    script: 'fail',
    fields: { maxRetries: 0 },
    before: RUNNING,
    sent: (token) => ({ error: token }),
    leaves: { status: 'dead', events: { dead: 1 } },
    again: notRunning('dead'),
  },
  {
    op: 'kill',
    endpoint: 'killJob',
    script: 'kill',
    before: RUNNING,
    sent: (token) => ({ reason: token }),
    leaves: { status: 'killed', events: { killed: 1 } },
    again: SUCCESS, // Idempotent: it leaves no second event.
  },
  {
    op: 'redeliver',
    endpoint: 'redeliverCallback',
    script: 'redeliver_callback',
    fields: { hasCallback: true },
    before: [...RUNNING, ['complete', { result: { token: 'to be delivered again' } }]],
    leaves: { status: 'completed', events: { completed: 1 } },
    again: SUCCESS,
  },
];

/** The same, to be tried. */
export const LOST_CHANGES: readonly LostReply[] = CHANGES.map((change) => ({
  endpoint: change.endpoint,
  runs: change.script,
  at: 'api',
  begin: (ground, n, loss) => beginChange(ground, change, { n, loss }),
}));
