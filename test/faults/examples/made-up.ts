import type { EventType, JsonValue, LogEntry } from '@yardmaster/protocol';
import type { Record } from '../checker.js';
import type { DumpedJob } from '../dump.js';
import type { Call, Callback, Operation, Stream } from '../history.js';

// A run that never was, in which all is well, to be spoilt by tests.

export const START = Date.parse('2026-01-01T12:00:00.000Z');
export const isoAt = (ms: number) => new Date(START + ms).toISOString();

/** Events of a job, of which only type, time since the start, and data matter. */
export type MadeUpEvent = [type: EventType, atMs: number, data?: JsonValue];

export const eventsOf = (jobId: string, events: readonly MadeUpEvent[]) =>
  events.map(([type, atMs, data = null], i) => ({
    id: `${jobId}.${i + 1}`,
    jobId,
    spaceId: 'yard',
    type,
    data,
    createdAt: isoAt(atMs),
  }));

/** A job with these events; spell out only the fields that matter. */
export function jobOf(id: string, events: readonly MadeUpEvent[], fields: Partial<DumpedJob> = {}): DumpedJob {
  return {
    id,
    spaceId: 'yard',
    name: 'work',
    payload: { n: id },
    status: 'pending',
    maxRetries: 0,
    attemptNumber: events.filter(([type]) => type === 'acked').length,
    timeoutSeconds: 1,
    callbackUrl: null,
    callbackHeaders: null,
    deliveredAt: null,
    startedAt: null,
    completedAt: null,
    result: null,
    createdAt: isoAt(events[0]?.[1] ?? 0),
    updatedAt: isoAt(events.at(-1)?.[1] ?? 0),
    events: eventsOf(id, events),
    logs: [],
    deadline: null,
    isOwed: false,
    ...fields,
  };
}

export const logOf = (jobId: string, seq: number, message: string): LogEntry => ({
  id: `${jobId}.${seq}`,
  seq,
  level: 'info',
  message,
  source: 'worker',
  metadata: {},
  loggedAt: isoAt(0),
  createdAt: isoAt(0),
});

/** A call that was made so long after the start, and answered 3 ms later. */
export function callOf(op: Operation, jobId: string | null, atMs: number, fields: Partial<Call> = {}): Call {
  return {
    kind: 'call',
    line: 0,
    client: 'somebody',
    api: 'api-1',
    op,
    jobId,
    spaceId: op === 'create' || op === 'poll' ? 'yard' : null,
    attempt: null,
    sent: null,
    sentAt: START + atMs,
    answeredAt: START + atMs + 3,
    outcome: 'ok',
    status: 200,
    code: null,
    body: { success: true },
    mayBe: [],
    ...fields,
  };
}

export const UNKNOWN = { outcome: 'unknown', status: 503, code: 'UNAVAILABLE', body: {} } as const;
export const REFUSED = { outcome: 'refused', status: 409, code: 'JOB_NOT_RUNNING', body: {} } as const;

/** The creation of a stored job, as it was answered. */
export function createOf(job: DumpedJob, fields: Partial<Call> = {}): Call {
  const atMs = Date.parse(job.createdAt) - START;
  return callOf('create', job.id, atMs, { sent: { payload: job.payload }, status: 201, body: { ...job }, ...fields });
}

/** A poll that was answered with a job as `jobOf` makes it, but for these fields. */
export function pollOf(jobId: string, atMs: number, fields: object = {}): Call {
  const { id, name, payload, maxRetries, timeoutSeconds } = jobOf(jobId, []);
  const job = {
    id,
    name,
    payload,
    maxRetries,
    timeoutSeconds,
    attemptNumber: 0,
    createdAt: isoAt(0),
    checkpoint: null,
  };
  return callOf('poll', null, atMs, { body: { jobs: [{ ...job, ...fields }] } });
}

export const callbackOf = (job: DumpedJob, atMs: number, fields: Partial<Callback> = {}): Callback => ({
  kind: 'callback',
  line: 0,
  jobId: job.id,
  id: `msg_${job.id}`,
  body: { status: job.status, result: job.result },
  at: START + atMs,
  ...fields,
});

/** The stream of a job that was watched from its start by somebody with a key, and told these events of it. */
export function streamOf(job: DumpedJob, told: readonly number[], fields: Partial<Stream> = {}): Stream {
  const messages = told.map((place) => {
    const { type, createdAt, data } = job.events[place] as DumpedJob['events'][number];
    return { jobId: job.id, type, timestamp: createdAt, data };
  });
  return {
    kind: 'stream',
    line: 0,
    client: 'watcher',
    scope: 'full',
    jobId: job.id,
    spaceId: null,
    gateway: 'gateway-1',
    openedAt: START,
    messages: [{ type: 'init', jobId: job.id, status: 'pending', timestamp: job.createdAt }, ...messages],
    closed: 1000,
    until: START + 5_000,
    ...fields,
  };
}

/** A message to somebody who has no key. */
export const withoutKey = (type: string, more: object = {}) => ({ jobId: 'a', type, timestamp: isoAt(500), ...more });

/** What a run leaves that had nothing but these in it. */
export function recordOf(jobs: DumpedJob[], entries: Record['entries'], fields: Partial<Record> = {}): Record {
  return {
    entries: entries.map((entry, i) => ({ ...entry, line: i + 1 })),
    dump: { at: START + 60_000, jobs, fsck: [] },
    outages: [],
    settings: { deliveryTimeoutMs: 2_000, retentionMs: 0, callbackDelays: [1, 2], eventsPerJob: 1_000 },
    ...fields,
  };
}
